import CallDesk
import Calls
import Synchronization
import Testing

@testable import Gateway

@Suite("What readers of people's events wait for", .timeLimit(.minutes(1)))
struct CallFeedsTests {
  private static let ada = PersonID("ada")
  private static let phone = DeviceID("phone")

  @Test func `who listens is called as a device begins to read and as it ends`() {
    let feeds = CallFeeds()
    let heard = Mutex<[PersonID]>([])
    feeds.onReaders { person in heard.withLock { $0.append(person) } }
    let feed = feeds.feed(of: Self.ada)
    feed.begin(Self.phone)
    feed.begin(Self.phone)
    #expect(heard.withLock { $0 } == [Self.ada], "a second reader of the same device is no change")
    feed.end(Self.phone)
    #expect(heard.withLock { $0.count } == 1)
    feed.end(Self.phone)
    feed.end(nil)
    #expect(heard.withLock { $0.count } == 3)
  }

  @Test func `of one person no more begin to read than may, whichever devices they are`() {
    let feed = CallFeeds().feed(of: Self.ada)
    #expect(feed.begin(Self.phone, most: 3) && feed.begin(Self.phone, most: 3) && feed.begin(nil, most: 3))
    #expect(!feed.begin(nil, most: 3) && !feed.begin(DeviceID("tablet"), most: 3))
    #expect(feed.devices == EventReaders([Self.phone], isAnyUnnamed: true))
    feed.end(Self.phone)
    #expect(feed.begin(DeviceID("tablet"), most: 3) && !feed.begin(Self.phone, most: 3))
  }

  /// What each of them leaves behind would be gone through by the next: the stack of a thread has no room for so many.
  @Test func `readers who come and go three hundred thousand times leave nothing behind`() {
    let feeds = CallFeeds()
    let count = Mutex(0)
    feeds.onReaders { _ in count.withLock { $0 += 1 } }
    let feed = feeds.feed(of: Self.ada)
    for _ in 0..<300_000 {
      feed.begin(Self.phone)
      feed.end(Self.phone)
    }
    #expect(count.withLock { $0 } == 600_000)
  }

  @Test func `a person whose last reader has gone has no feed any more`() {
    let feeds = CallFeeds()
    var feed: CallFeed? = feeds.feed(of: Self.ada)
    #expect(feed != nil && feeds.isOpen(Self.ada) && feeds.people(after: nil) == [Self.ada])
    feed = nil
    #expect(!feeds.isOpen(Self.ada) && feeds.people(after: nil).isEmpty)
  }
}
