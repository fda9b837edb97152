//! Readers of a run's events.

use futures::poll;
use heddle_runtime::EventNotifier;
use heddle_workflows::ports::Notifier as _;

use crate::{run, tenant};

#[tokio::test]
async fn what_is_committed_between_reading_and_waiting_is_not_lost() {
    let hub = EventNotifier::default();
    let mut watch = hub.watch(run(1));
    // The reader reads the database here; the commit comes before the reader waits.
    hub.run_changed(tenant(), run(1), 7);
    assert!(poll!(std::pin::pin!(watch.changed())).is_ready());
}

#[tokio::test]
async fn a_reader_that_has_been_told_waits_for_the_next_commit() {
    let hub = EventNotifier::default();
    let mut watch = hub.watch(run(1));
    hub.run_changed(tenant(), run(1), 1);
    hub.run_changed(tenant(), run(1), 2);
    watch.changed().await;
    {
        let mut next = std::pin::pin!(watch.changed());
        assert!(poll!(&mut next).is_pending());
        hub.run_changed(tenant(), run(2), 9);
        assert!(poll!(&mut next).is_pending());
        hub.run_changed(tenant(), run(1), 3);
        assert!(poll!(&mut next).is_ready());
    }
    // The same number again is still a commit: telling too often does no harm, telling too little would.
    hub.run_changed(tenant(), run(1), 3);
    assert!(poll!(std::pin::pin!(watch.changed())).is_ready());
}

#[tokio::test]
async fn every_reader_of_a_run_is_told_and_one_that_goes_takes_nothing_from_the_others() {
    let hub = EventNotifier::default();
    let (mut one, mut two, gone) = (hub.watch(run(1)), hub.watch(run(1)), hub.watch(run(1)));
    drop(gone);
    hub.run_changed(tenant(), run(1), 1);
    one.changed().await;
    two.changed().await;
    drop(one);
    hub.run_changed(tenant(), run(1), 2);
    two.changed().await;
}

#[tokio::test]
async fn a_reader_that_comes_later_reads_first_and_is_told_of_what_follows() {
    let hub = EventNotifier::default();
    let earlier = hub.watch(run(1));
    hub.run_changed(tenant(), run(1), 1);
    let mut later = hub.watch(run(1));
    assert!(poll!(std::pin::pin!(later.changed())).is_pending());
    drop(earlier);
    hub.run_changed(tenant(), run(1), 2);
    assert!(poll!(std::pin::pin!(later.changed())).is_ready());
    // After the last reader has gone the run can be watched anew.
    drop(later);
    hub.run_changed(tenant(), run(1), 3);
    let mut anew = hub.watch(run(1));
    hub.run_changed(tenant(), run(1), 4);
    anew.changed().await;
}
