public import Calls

/// How calls are configured.
public struct CallDeskTerms: Sendable {
  public var book = CallBook.Terms()
  public var rates = CallRates.Terms()
  /// How often one person may change calls, or come into them, in a minute.
  public var changesPerMinute = 60
  /// Bytes of a call's metadata.
  public var metadata = 4_096
  /// Of one person.
  public var devices = 16
  /// Days for which an unused device is kept.
  public var deviceDays = 90
  /// Blocks of one person.
  public var blocks = 1_000
  /// Events of one person that are kept, and for how many days.
  public var events = 10_000
  public var eventDays = 7
  public var historyDays = 180
  /// Answers that are kept for when they are asked for again, each for a day.
  public var answers = Answers()
  /// Bytes of a signal's payload.
  public var payload = 65_536
  /// Signals that wait for one person in one call, and their bytes.
  public var signals = 256
  public var signalBytes = 1_048_576
  /// Bytes of signals that are kept for one person in one call, heard or not.
  var signalBytesKept: Int64 { 4 * Int64(signalBytes) }

  /// Platforms whose devices can be woken.
  public var wakes = Set(Device.Platform.allCases)
  /// Milliseconds for which it is kept what became of pushes; and behind a call's end, signals and wrapped keys.
  public var deliveries: Int64 = 86_400_000
  public var afterCall: Int64 = 60_000

  public var keys = Keys()

  public var sessions = SharedSessionTerms()
  public var sharing = Sharing()

  public init() {}

  /// How many answers are kept.
  public struct Answers: Sendable {
    public var ofPerson = 4_000
    /// Of all people together, looked at once a minute.
    public var ofAll = 1_000_000

    public init() {}
  }

  /// How much one person does with keys.
  public struct Keys: Sendable {
    /// Entries of the log of keys in a minute, and in an hour. They stay there for ever.
    public var entriesPerMinute = 3
    public var entriesPerHour = 20
    /// Times in a minute that calls get another key.
    public var changesPerMinute = 20

    public init() {}
  }

  /// How much is shared.
  public struct Sharing: Sendable {
    /// Sessions of one call at a time.
    public var sessionsOfCall = 16
    /// Of one call, sessions that are over and whose snapshots are kept: with as many no other is started.
    public var snapshotsOfCall = 128
    /// How often one person may start, join or hand over one, or keep a snapshot, in a minute.
    public var changesPerMinute = 60
    /// Bytes of an event, and events of one person in a second.
    public var eventData = 16_384
    public var eventsPerSecond = 50
    /// Bytes of a snapshot, the events that are kept before it, and the days for which the last one is kept behind the end.
    public var snapshot = 1_048_576
    public var eventsBehindSnapshot = 100
    /// Events without their content, before those, that are known when they are sent again.
    public var idsBehindEvents = 100_000
    public var snapshotDays = 7

    public init() {}
  }
}
