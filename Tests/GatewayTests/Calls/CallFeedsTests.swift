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
    let places = [feed.begin(Self.phone, at: 0), feed.begin(Self.phone, at: 0), feed.begin(nil, at: 0)]
    #expect(heard.withLock { $0 } == [Self.ada, Self.ada], "a second reader of the same device is no change")
    feed.end(places[0])
    #expect(heard.withLock { $0.count } == 2)
    feed.end(places[1])
    feed.end(places[2])
    #expect(heard.withLock { $0.count } == 4)
    // Each ends once.
    feed.end(places[1])
    #expect(heard.withLock { $0.count } == 4 && feed.devices == EventReaders())
  }

  @Test func `of a device no more read than may: its oldest ends for another, and no other device's`() {
    let feed = CallFeeds().feed(of: Self.ada)
    let tablet = feed.begin(DeviceID("tablet"), at: 0)
    let phones = (0..<6).map { _ in feed.begin(Self.phone, at: 0) }
    #expect(phones.map(feed.has) == [false, false, true, true, true, true] && feed.has(tablet))
    // Those that don't say which they are may be as many as the person's.
    let unnamed = (0..<27).map { _ in feed.begin(nil, at: 0) }
    #expect(unnamed.allSatisfy(feed.has) && unnamed.count == 27 && phones.count(where: feed.has) == 4)
    feed.end(phones[2])
    #expect(feed.has(feed.begin(Self.phone, at: 0)) && phones.map(feed.has).suffix(3) == [true, true, true])
  }

  @Test
  func `of a person no more read than may: the device that begins or the one that has most loses its oldest`()
  {
    let feed = CallFeeds().feed(of: Self.ada)
    let bounds = CallFeed.Bounds(ofPerson: 5, ofDevice: 3)
    let tablet = feed.begin(DeviceID("tablet"), at: 0, within: bounds)
    let phones = (0..<3).map { _ in feed.begin(Self.phone, at: 0, within: bounds) }
    let unnamed = feed.begin(nil, at: 0, within: bounds)
    // It has one of its own, which was maybe lost.
    let again = feed.begin(DeviceID("tablet"), at: 0, within: bounds)
    #expect(!feed.has(tablet) && feed.has(again) && phones.allSatisfy(feed.has) && feed.has(unnamed))
    // It has none: what has been there for the longest isn't what can be spared.
    let desk = feed.begin(DeviceID("desk"), at: 0, within: bounds)
    #expect(phones.map(feed.has) == [false, true, true])
    #expect(feed.has(desk) && feed.has(again) && feed.has(unnamed))
    let other = feed.begin(nil, at: 0, within: bounds)
    #expect(!feed.has(unnamed) && feed.has(other) && phones.map(feed.has) == [false, true, true])
  }

  @Test
  func `streams of a device end each other so often, and then no other begins until some time has passed`() {
    let feed = CallFeeds().feed(of: Self.ada)
    var bounds = CallFeed.Bounds(ofPerson: 5, ofDevice: 2)
    (bounds.replacementsOfDevice, bounds.replacementsOfPerson, bounds.span) = (3, 5, 1_000)
    func begins(_ device: DeviceID?, at now: Int64) -> Bool {
      guard feed.admits(device, at: now, within: bounds) else { return false }
      feed.begin(device, at: now, within: bounds)
      return true
    }
    // The first two end none.
    #expect((0..<7).map { begins(Self.phone, at: $0 * 10) } == [true, true, true, true, true, false, false])
    // Another device has turns of its own, and where there is room none is taken.
    #expect((0..<5).map { begins(DeviceID("tablet"), at: 100 + $0) } == [true, true, true, true, false])
    #expect(begins(nil, at: 200) && !begins(nil, at: 200), "all of the person's have no more together")
    // Each turn comes back by itself.
    #expect(!begins(Self.phone, at: 1_019) && begins(Self.phone, at: 1_020) && !begins(Self.phone, at: 1_029))
  }

  @Test func `a device that has no stream begins one, however often others' end each other`() {
    let feed = CallFeeds().feed(of: Self.ada)
    var bounds = CallFeed.Bounds(ofPerson: 2, ofDevice: 2)
    (bounds.replacementsOfDevice, bounds.replacementsOfPerson, bounds.span) = (3, 3, 1_000)
    for number in 0..<9 {
      let name = DeviceID("made up \(number)")
      #expect(feed.admits(name, at: 0, within: bounds))
      feed.begin(name, at: 0, within: bounds)
    }
    #expect(feed.admits(Self.phone, at: 0, within: bounds))
    let phone = feed.begin(Self.phone, at: 0, within: bounds)
    #expect(feed.has(phone) && !feed.admits(Self.phone, at: 0, within: bounds))
  }

  @Test func `what may begin and doesn't, since it is refused behind that, counts for nothing`() {
    let feed = CallFeeds().feed(of: Self.ada)
    for _ in 0..<4 { feed.begin(Self.phone, at: 0) }
    for _ in 0..<100 { #expect(feed.admits(Self.phone, at: 1)) }
  }

  @Test func `a device whose last reader ends for another's reads no more, and who listens hears so once`() {
    let feeds = CallFeeds()
    let count = Mutex(0)
    let feed = feeds.feed(of: Self.ada)
    let bounds = CallFeed.Bounds(ofPerson: 1, ofDevice: 1)
    let phone = feed.begin(Self.phone, at: 0, within: bounds)
    feeds.onReaders { _ in count.withLock { $0 += 1 } }
    feed.begin(DeviceID("tablet"), at: 0, within: bounds)
    #expect(feed.devices == EventReaders([DeviceID("tablet")]) && count.withLock { $0 } == 1)
    feed.end(phone)
    #expect(feed.devices == EventReaders([DeviceID("tablet")]) && count.withLock { $0 } == 1)
  }

  /// What each of them leaves behind would be gone through by the next: the stack of a thread has no room for so many.
  @Test func `readers who come and go three hundred thousand times leave nothing behind`() {
    let feeds = CallFeeds()
    let count = Mutex(0)
    feeds.onReaders { _ in count.withLock { $0 += 1 } }
    let feed = feeds.feed(of: Self.ada)
    for _ in 0..<300_000 { feed.end(feed.begin(Self.phone, at: 0)) }
    #expect(count.withLock { $0 } == 600_000)
  }

  @Test func `a person whose last reader has gone has no feed any more`() {
    let feeds = CallFeeds()
    var feed: CallFeed? = feeds.feed(of: Self.ada)
    #expect(!feeds.isOpen(Self.ada) && feeds.people(after: nil).isEmpty, "no one has begun to read")
    let place = feed?.begin(Self.phone, at: 0)
    #expect(place != nil && feeds.isOpen(Self.ada) && feeds.people(after: nil) == [Self.ada])
    feed = nil
    #expect(!feeds.isOpen(Self.ada) && feeds.people(after: nil).isEmpty)
  }
}
