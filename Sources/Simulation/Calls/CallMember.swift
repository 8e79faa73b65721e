internal import HTTPServer

/// A person who calls others, or a stranger to all calls.
final class CallMember {
  let name: String
  let isStranger: Bool
  let phones: [CallPhone]
  /// By which it asks; it may be one that is over by now.
  var bearer: CallBearer
  /// Those that calls have given it, the last one of each.
  var callTokens: [CallBearer] = []
  /// In which step it was forgotten last; nil: it never was.
  var forgotten: Int?
  /// By which its device is pushed to; nil: it isn't.
  var secret: String?

  init(_ name: String, isStranger: Bool, phones: Int, _ bearer: CallBearer) {
    self.name = name
    self.isStranger = isStranger
    self.bearer = bearer
    self.phones = (1...phones).map { CallPhone("\(name)\($0)") }
  }
}

/// A device of a person: it hears all there is for the person, by a stream or page by page.
final class CallPhone {
  let id: String
  /// Of its key in the log; nil: it has none.
  var key: String?
  /// The last event that it has heard.
  var heard: Int64 = 0
  /// nil: it reads none now.
  var stream: (any HTTPBodySource)?
  var text = CallStreamText()
  var reading = CallStreamReading()
  /// From when on its stream's token holds no longer, in seconds since 1970.
  var streamUntil = 0

  init(_ id: String) { self.id = id }
}
