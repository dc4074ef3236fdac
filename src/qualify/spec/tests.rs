use super::*;

fn refused(text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.toml");
    std::fs::write(&file, text).unwrap();
    let refusal = Spec::load(&file).unwrap_err();
    assert_eq!(refusal.exit_code, 2);
    refusal.report.message.clone()
}

#[test]
fn every_shipped_spec_is_read_and_has_its_own_name() {
    for (name, _) in SHIPPED {
        let spec = Spec::load(Path::new(name)).unwrap();
        assert_eq!(spec.document.name, name);
        assert_eq!(spec.sha256.len(), 64);
        for step in &spec.document.steps {
            assert!(step.plan.parsed().unwrap().work.duration.is_some(), "{name}: {}", step.name);
        }
    }
}

#[test]
fn what_means_nothing_is_refused_with_its_place() {
    let step = "[[step]]\nname = 'a'\n";
    let cases = [
        ("name = 'x'\n".to_owned(), "missing field `step`"),
        ("name = 'x'\nstep = []\n".to_owned(), "step: give 1"),
        (format!("name = 'x'\ncolour = 1\n{step}"), "line 2: unknown field `colour`"),
        (format!("name = '../x'\n{step}"), "name: give letters"),
        (format!("name = 'x'\n{step}{step}"), "step \"a\": there are two"),
        (format!("name = 'x'\n{step}plan = {{ path = '/x' }}\n"), "plan.path: unknown key"),
        (format!("name = 'x'\n{step}plan = {{ workers = 0 }}\n"), "--workers"),
        (format!("name = 'x'\n{step}limits = {{ p98 = '1ms' }}\n"), "unknown field `p98`"),
        (format!("name = 'x'\n{step}limits = {{ p99 = '1' }}\n"), "a number and a unit"),
        (format!("name = 'x'\n{step}limits = {{ p99 = 1 }}\n"), "expected a string"),
        (format!("name = 'x'\n{step}limits = {{ band = 'fine' }}\n"), "no such band"),
        (format!("name = 'x'\n{step}limits = {{ spread = '5' }}\n"), "not a share"),
        (format!("name = 'x'\n{step}limits = {{ spread = '5 %' }}\n"), "at least two repeats"),
        (format!("name = 'x'\n{step}load = 'loud'\n"), "unknown variant `loud`"),
        (format!("name = 'x'\n{step}loaded_limits = {{ p99 = '1ms' }}\n"), "there is no load"),
        (format!("name = 'x'\n{step}repeats = 2\nsteady = {{}}\n"), "repeats or steady"),
        (format!("name = 'x'\n{step}steady = {{ rounds_max = 4 }}\n"), "five rounds"),
        (format!("name = 'x'\nprecondition = {{ random_overwrite = '1m' }}\n{step}"), "needs fill"),
        (format!("name = 'x'\nprecondition = {{ fill = '95 %' }}\n{step}"), "at most 90 %"),
        (
            format!("name = 'x'\n{step}limits = {{ change = {{ record = 'none.json' }} }}\n"),
            "change.record: read",
        ),
    ];
    for (text, why) in cases {
        let message = refused(&text);
        assert!(message.contains(why), "{text}: {message}");
        assert!(!message.contains('\n'), "{message}");
    }
    let none = Spec::load(Path::new("no-such-spec")).unwrap_err().report.message.clone();
    assert!(none.contains("quick, slog, jetstream-node"), "{none}");
}

#[test]
fn a_reference_that_is_replaced_makes_it_another_spec() {
    let folder = tempfile::tempdir().unwrap();
    let (file, reference) = (folder.path().join("s.toml"), folder.path().join("r.json"));
    let text = "name = 'x'\n[[step]]\nname = 'a'\nlimits = { change = { record = 'r.json' } }\n";
    std::fs::write(&file, text).unwrap();
    std::fs::write(&reference, "1").unwrap();
    let before = Spec::load(&file).unwrap().sha256;
    assert_eq!(Spec::load(&file).unwrap().sha256, before);
    std::fs::write(&reference, "2").unwrap();
    assert_ne!(Spec::load(&file).unwrap().sha256, before);
}
