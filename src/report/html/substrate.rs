//! What lies under the path, and what is needed to repeat the run.

use super::markup::Markup;
use super::repeat::shell_line;
use crate::human;
use crate::record::{Block, Record, Substrate};

/// The command, the plan's place and seed, who measured when.
pub fn command(record: &Record) -> Markup {
    let mut out = Markup::default();
    out.tags("<section><h2>To repeat it</h2><pre>").text(&shell_line(&record.command));
    out.tags("</pre><p>");
    if let Some(plan) = &record.plan {
        out.tags("of <code>").text(&plan.path).tags("</code>, ");
        out.text(&format!("the same data with --seed {}; ", plan.seed));
    }
    let tool = &record.tool;
    out.text(&format!("{} {} ({}), ", tool.name, tool.version, tool.target));
    out.text(&record.started_at).tags("</p></section>\n");
    out
}

/// Mount, block stack, limits and machine; nothing where nothing is known.
pub fn draw(record: &Record) -> Markup {
    let mut out = Markup::default();
    let Some(under) = &record.substrate else { return out };
    out.tags("<section><h2>Under the path</h2><div class=\"wide\"><table class=\"under\">");
    for (name, value) in rows(under) {
        out.tags("<tr><th>").text(&name).tags("</th><td>").text(&value).tags("</td></tr>");
    }
    for unknown in &under.unknown {
        out.tags("<tr><th>").text(&unknown.fact).tags("</th><td class=\"dim\">unknown: ");
        out.text(&unknown.reason).tags("</td></tr>");
    }
    out.tags("</table></div></section>\n");
    out
}

fn rows(under: &Substrate) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    let mut say = |name: &str, value: String| {
        if !value.is_empty() {
            rows.push((name.to_owned(), value));
        }
    };
    let upper = under.upper_filesystem.as_ref().map(|upper| format!(" over {upper}"));
    let filesystem = under.filesystem.clone().unwrap_or_default();
    say("filesystem", format!("{filesystem}{}", upper.unwrap_or_default()));
    if let Some(mount) = &under.mount {
        say("mount", format!("{} on {}", mount.source, mount.mount_point));
        say("options", format!("{}; {}", mount.options, mount.super_options));
    }
    if let Some(zfs) = &under.zfs {
        let facts =
            [("sync", &zfs.sync), ("logbias", &zfs.logbias), ("compression", &zfs.compression)];
        let facts =
            facts.iter().filter_map(|(name, value)| Some(format!(", {name}={}", value.as_ref()?)));
        let log = format!(", log devices: {}", list(&zfs.log_devices));
        say("dataset", format!("{}{}{log}", zfs.dataset, facts.collect::<String>()));
    }
    for block in &under.block {
        say(&block.name, self::block(block));
    }
    for limit in &under.limits {
        say("limit", format!("{}: {} ({})", limit.node, limit.limit, limit.source));
    }
    let machine = &under.machine;
    let known = [&machine.product, &machine.cpu_model, &machine.container];
    let virtualised = match machine.virtualised {
        Some(true) => "virtual machine",
        Some(false) => "no hypervisor seen",
        None => "",
    };
    let kernel = machine.kernel.as_ref().map(|kernel| format!("kernel {kernel}"));
    let words = known.into_iter().flatten().cloned().chain(kernel);
    let words = words.chain((!virtualised.is_empty()).then(|| virtualised.to_owned()));
    say("machine", words.collect::<Vec<_>>().join(", "));
    rows
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(" ") }
}

fn block(block: &Block) -> String {
    let mut words = vec![block.kind.clone()];
    let texts = [
        ("", &block.transport),
        ("", &block.model),
        ("firmware ", &block.firmware),
        ("serial ", &block.serial),
        ("cache: ", &block.write_cache),
        ("declares ", &block.declared_cache),
        ("scheduler ", &block.scheduler),
        ("file ", &block.backing_file),
    ];
    words.extend(texts.iter().filter_map(|(word, text)| Some(format!("{word}{}", text.as_ref()?))));
    let flags = [(block.fua, "fua"), (block.rotational, "rotational")];
    let flags = flags.iter().filter(|(flag, _)| *flag == Some(true));
    words.extend(flags.map(|(_, word)| (*word).to_owned()));
    let sectors = block.physical_block_size_bytes;
    words.extend(sectors.map(|bytes| format!("sectors of {}", human::bytes(bytes))));
    if !block.below.is_empty() {
        words.push(format!("on {}", block.below.join(" ")));
    }
    words.join(", ")
}
