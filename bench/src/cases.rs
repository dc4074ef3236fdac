//! What every property runs under: proptest's own settings, and failing seeds kept beside the program.

use std::sync::LazyLock;

use proptest::test_runner::{Config, FileFailurePersistence};

/// Beside the test program, where a clean build removes it; the source tree gets no files.
static FAILED: LazyLock<String> = LazyLock::new(|| {
    let program = std::env::current_exe().expect("a test knows its own program");
    program.with_extension("failed-properties").display().to_string()
});

/// A failure prints its seed (`cc ...`) and is tried first the next time. `PROPTEST_CASES` and
/// `PROPTEST_RNG_SEED` are heeded.
pub fn config() -> Config {
    let kept: &'static str = FAILED.as_str();
    let failure_persistence = Some(Box::new(FileFailurePersistence::Direct(kept)) as Box<_>);
    Config { failure_persistence, ..Config::default() }
}
