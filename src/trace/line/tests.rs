use super::*;

fn of(line: &str) -> Option<Event> {
    event(line.as_bytes(), &mut Names::default())
}

fn request_of(line: &str) -> (Phase, Request) {
    match of(line).unwrap().what {
        What::Request(phase, request) => (phase, request),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_request_is_followed_from_the_queue_to_the_answer() {
    let mut names = Names::default();
    let queued = "      synctail-0-29470   [000] ..... 68119831830645: block_bio_queue: 254,0 FWS 0 + 0 [synctail-0]";
    let queued = event(queued.as_bytes(), &mut names).unwrap();
    assert_eq!(queued.tick, 68_119_831_830_645);
    let What::Request(Phase::Queued, queued) = queued.what else { panic!("{queued:?}") };
    assert_eq!((queued.operation, queued.device), (Operation::Flush, (254, 0)));
    assert_eq!(names.get(queued.by), "synctail-0");
    let (phase, issued) = request_of(
        "    kworker/0:2H-24275   [000] ..... 68119831873863: block_rq_issue: 254,0 FF 0 () 0 + 0 none,0,0 [kworker/0:2H]",
    );
    assert_eq!((phase, issued.operation, issued.sync), (Phase::Issued, Operation::Flush, false));
    let (phase, done) = request_of(
        "           rustc-29474   [001] ..s.. 68119832602076: block_rq_complete: 254,0 FF () 18446744073709551615 + 0 none,0,0 [0]",
    );
    assert_eq!((phase, done.operation), (Phase::Completed, Operation::Flush));
}

#[test]
fn letters_tell_flush_write_and_forced_unit_access() {
    let of = |letters: &str| {
        let line = format!(
            "              sh-1       [000] ..... 5: block_rq_issue: 8,16 {letters} 4096 () 160 + 8 be,0,4 [sh]"
        );
        let request = request_of(&line).1;
        (request.operation, request.fua, request.sync)
    };
    assert_eq!(of("WS"), (Operation::Write, false, true));
    assert_eq!(of("W"), (Operation::Write, false, false));
    assert_eq!(of("WFS"), (Operation::Write, true, true));
    assert_eq!(of("FWFS"), (Operation::Write, true, true));
    assert_eq!(of("FWS"), (Operation::Write, false, true), "a write of eight sectors is a write");
    assert_eq!(of("FF"), (Operation::Flush, false, false));
    assert_eq!(of("FS"), (Operation::Flush, false, true));
    assert_eq!(of("RA"), (Operation::Other, false, false));
    assert_eq!(of("DS"), (Operation::Other, false, true));
    assert_eq!(of("N"), (Operation::Other, false, false));
}

#[test]
fn threads_are_known_by_name_whatever_others_are_called() {
    let line = "  opt cgu.0 [0] -29448   [001] d..2. 7: sched_switch: prev_comm=a ==> next_comm= prev_pid=5 prev_prio=120 prev_state=R+ ==> next_comm=synctail-12 next_pid=9 next_prio=120";
    let Some(Event { tick: 7, what: What::Switch { from, blocked, to } }) = of(line) else {
        panic!("{:?}", of(line))
    };
    assert_eq!((from, blocked), (Thread { tid: 5, role: Role::Other }, false));
    assert_eq!(to, Thread { tid: 9, role: Role::Worker(12) });
    let wake = "          <idle>-0       [001] dNs4. 8: sched_wakeup: comm=iou-wrk-9 pid=77 prio=120 target_cpu=000";
    assert_eq!(of(wake).unwrap().what, What::Wake(Thread { tid: 77, role: Role::Pool(9) }));
    let asleep = "      synctail-3-41      [000] d..2. 9: sched_switch: prev_comm=synctail-3 prev_pid=41 prev_prio=120 prev_state=D ==> next_comm=swapper/0 next_pid=0 next_prio=120";
    let What::Switch { blocked, from, .. } = of(asleep).unwrap().what else { panic!() };
    assert_eq!((blocked, from.role), (true, Role::Worker(3)));
}

#[test]
fn clocks_of_the_kernel_count_ticks_or_seconds() {
    let at = |tick: &str| {
        of(&format!(
            "      jbd2/vda-8-230     [001] ..... {tick}: jbd2_start_commit: dev 254,0 transaction 7 sync 0"
        ))
    };
    assert_eq!(at("68119831830645").unwrap().tick, 68_119_831_830_645);
    assert_eq!(at("  123.000456").unwrap().tick, 123_000_456_000);
    assert_eq!(at("12").unwrap().what, What::Journal(true));
    assert_eq!(at("x"), None);
}

#[test]
fn odd_lines_are_no_events() {
    for line in [
        "",
        "# tracer: nop",
        "CPU:0 [LOST 1234 EVENTS]",
        "            bash-12      [000] ..... 5: sched_switch: prev_comm=",
        "            bash-12      [000] ..... 5: block_rq_issue: 254,0 WS",
        "            bash-12      [000] ..... 5: block_rq_issue: 254 WS 1 () 1 + 1 [x]",
        "            bash-12      [000] ..... 99999999999999999999999: jbd2_end_commit: dev 1,2",
        "            bash-12      [000] ..... 18446744073709551615.5: jbd2_end_commit: dev 1,2",
        "            bash-12      [000] ..... 5: someone_elses: dev 1,2",
        "            bash-x       [000] ..... 5: jbd2_end_commit: dev 1,2",
    ] {
        assert_eq!(of(line), None, "{line}");
    }
}
