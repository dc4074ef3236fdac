//! `powercut witness`: the listener, its token and its store.

use std::net::TcpListener;

use super::store::Store;
use super::token;
use super::witness::Witness;
use crate::args::WitnessArgs;
use crate::outputs::write_stdout;
use crate::refusal::Refusal;

/// Serves until the process is stopped; says first where, with which token, and what keeps the entries.
///
/// # Errors
/// Where the store or the address cannot be had.
pub fn serve(args: &WitnessArgs) -> Result<(), Refusal> {
    let token = match token::given(args.token_file.as_deref())? {
        Some(token) => token,
        None => token::made(),
    };
    let shown = args.store.display();
    let store = Store::open(&args.store).map_err(|error| {
        let remedy = "give --store a file in a directory that can be written";
        Refusal::cannot("prepare", "open", format!("--store: open {shown}: {error}"), remedy)
    })?;
    let listener = TcpListener::bind(args.listen).map_err(|error| {
        let text = format!("--listen: bind {}: {error}", args.listen);
        Refusal::cannot("prepare", "bind", text, "give an address of this machine and a free port")
    })?;
    let address = listener.local_addr().map_or_else(|_| args.listen.to_string(), |a| a.to_string());
    write_stdout(&format!("witness at {address}, token {token}, keeps {shown}\n"))?;
    let witness = Witness::new(token, store);
    witness.serve(&listener).map_err(|error| {
        Refusal::cannot("serve", "accept", format!("accept on {address}: {error}"), "")
    })
}
