//! What a JetStream server would do on the measured storage, as recorded.

use serde::{Deserialize, Serialize};

/// What follows from the measured flushes alone, without a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// The server's own share of every acknowledgement, which no storage takes away.
    pub server_ns: u64,
    /// How long a publisher waits under `sync_interval: always`, one message in flight on its stream.
    pub pub_ack: Vec<PubAckPrediction>,
    /// How long making a stream takes.
    pub create_stream: Vec<CreateStreamPrediction>,
    /// How long a client waits for an answer to CreateStream.
    pub deadline_ns: u64,
    /// Each interval that could be configured instead, with its two prices.
    pub intervals: Vec<IntervalPrice>,
}

/// One acknowledgement: flushes in series and the server's own share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PubAckPrediction {
    /// Replicas of the stream.
    pub replicas: u64,
    /// Versions of nats-server: `any`, `2.15 and later`, `up to 2.14`.
    pub server: String,
    /// Flushes one after the other on the way to the acknowledgement.
    pub flushes: u64,
    /// Median.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50_ns: Option<u64>,
    /// 99th percentile; absent where the samples do not carry it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_ns: Option<u64>,
}

/// One CreateStream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreateStreamPrediction {
    /// Replicas of the stream.
    pub replicas: u64,
    /// Whether the server is a member of a cluster, whose own log is then flushed too.
    pub clustered: bool,
    /// Versions of nats-server: `any`, `2.15 and later`, `up to 2.14`.
    pub server: String,
    /// `always`, or `any` where an interval saves nothing: the raft group's files are O_SYNC whatever the setting.
    pub sync: String,
    /// Flushes one after the other.
    pub flushes: u64,
    /// So many times the mean flush.
    pub mean_ns: u64,
    /// Whether that is longer than the client waits.
    pub exceeds_deadline: bool,
}

/// What an interval costs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IntervalPrice {
    /// As the server's configuration takes it.
    pub sync_interval: String,
    /// The same in nanoseconds; also what a power cut may lose, on each node that loses power.
    pub at_risk_ns: u64,
    /// Share of a one-replica stream's acks that wait behind the background flush; 0 to 1.
    pub stall_share: f64,
    /// The same for three replicas, whose logs and stores stall on clocks of their own; 0 to 1.
    pub stall_share_r3: f64,
}
