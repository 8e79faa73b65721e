public import Calls

/// Why something isn't done that was asked of calls, as a client hears it.
public enum CallProblem: Error, Hashable, Sendable {
  /// There is no such thing, or it is nothing of the person's.
  case notFound
  case notAllowed
  /// An admin has taken the person out of the call.
  case removed
  /// The id was given to something else.
  case idTaken
  /// The person is in the call by another device.
  case activeElsewhere
  case callEnded
  case sessionEnded
  case noRecipients
  case tooManyPeople(most: Int)
  /// What, and the most that it may be.
  case tooLarge(String)
  /// Types of events that begin so are the server's own.
  case reservedType
  /// What is asked for is in the snapshot, which goes up to that number.
  case compacted(Int64)
  /// A snapshot of what hasn't come yet; the number of the last event.
  case beyondLast(Int64)
  /// A newer one is kept already, which goes up to that number.
  case staleSnapshot(Int64)
  /// Those for whose devices no key of the call was brought, in the order in which they were named.
  case keyMissing([PersonID])
  /// A key was wrapped for one that was replaced: the keys of now of those whose it is; or another key is the call's by now: its
  /// number.
  case staleKey([CurrentKey], index: Int64?)
  /// It is for calls that are encrypted end to end.
  case notEncrypted
  /// What is no key of its algorithm, and why.
  case badKey(String)
  /// The log of keys has had no head of that size: it has so many leaves now.
  case noSuchHead(size: Int)
  /// In how many milliseconds it may be done.
  case tooMany(wait: Int64)
  /// Nothing can be written at the moment.
  case storeUnavailable
}
