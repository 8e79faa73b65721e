internal import AccessTokens
internal import HTTPServer
internal import Rooms
internal import Signalling

/// The members of a request's JSON object, each of which may be absent, null or of its type; what isn't known is
/// refused, since no client should believe that it was done.
struct BodyReader {
  /// Of a patch (RFC 7396 §4); plain JSON is what many tools send.
  static let patchTypes = ["application/merge-patch+json", "application/json"]

  private let members: [String: StrictJSON]
  /// As in `permissions.`, for what is said about its members.
  private let prefix: String

  /// - Parameters:
  ///   - types: media types that are taken.
  ///   - bounds: how much there may be in it.
  init(
    _ request: HTTPRequest, types: [String], within bounds: BodyBounds, knowing names: Set<String>
  ) throws(RESTProblem) {
    guard let type = request.mediaType, types.contains(type) else {
      var problem = RESTProblem(
        status: 415, code: "content-type", title: "Unsupported content type",
        detail: "expected: \(types.joined(separator: " or "))")
      if request.method == .patch { problem.headers = [("accept-patch", types[0])] }
      throw problem
    }
    guard case .object(let members) = try bounds.read(request.body) else { throw .noObject }
    try self.init(members, prefix: "", knowing: names)
  }

  private init(_ members: [String: StrictJSON], prefix: String, knowing names: Set<String>)
    throws(RESTProblem)
  {
    self.members = members
    self.prefix = prefix
    if let unknown = members.keys.filter({ !names.contains($0) }).min() {
      throw .body("\(prefix)\(unknown.prefix(64)) is not a known member")
    }
  }

  private func wrong(_ name: String, _ expected: String) -> RESTProblem {
    .body("\(prefix)\(name) must be \(expected)")
  }

  /// - Parameter value: nil: it is something else.
  private func change<Value>(
    _ name: String, _ expected: String, _ value: (StrictJSON) -> Value?
  ) throws(RESTProblem) -> Change<Value> {
    switch members[name] {
    case nil: return .keep
    case .null: return .remove
    case let given?:
      guard let value = value(given) else { throw wrong(name, expected) }
      return .set(value)
    }
  }

  /// What takes away what an object would set.
  func isNull(_ name: String) -> Bool { members[name] == .null }

  func flag(_ name: String) throws(RESTProblem) -> Change<Bool> {
    try change(name, "true or false") { if case .boolean(let value) = $0 { value } else { nil } }
  }

  func integer(_ name: String, _ range: ClosedRange<Int>) throws(RESTProblem) -> Change<Int> {
    try change(name, "a whole number from \(range.lowerBound) to \(range.upperBound)") {
      guard case .number(let value) = $0, value == value.rounded(), value.magnitude < 1e15,
        range.contains(Int(value))
      else { return nil }
      return Int(value)
    }
  }

  func text(_ name: String, _ expected: String, _ isGood: (String) -> Bool) throws(RESTProblem) -> Change<
    String
  > {
    try change(name, expected) {
      guard case .string(let text) = $0, isGood(text) else { return nil }
      return text
    }
  }

  /// A name of anything.
  func name(_ name: String) throws(RESTProblem) -> Change<String> {
    try text(name, "a string of 1 to 128 bytes without control characters", AccessToken.isText)
  }

  /// Its size is the room's to judge.
  func metadata() throws(RESTProblem) -> Change<String> { try text("metadata", "a string") { _ in true } }

  /// - Parameter most: characters of base64.
  func bytes(_ name: String, most: Int) throws(RESTProblem) -> Change<[UInt8]> {
    try change(name, "base64 of at most 16 KiB") {
      guard case .string(let text) = $0, text.utf8.count <= most else { return nil }
      return Base64.decode(text)
    }
  }

  func texts(_ name: String, most: Int) throws(RESTProblem) -> Change<[String]> {
    try change(name, "a list of at most \(most) strings") {
      guard case .array(let items) = $0, items.count <= most else { return nil }
      var texts: [String] = []
      for item in items {
        guard case .string(let text) = item else { return nil }
        texts.append(text)
      }
      return texts
    }
  }

  /// As in tokens an empty list is no restriction.
  func sources(_ name: String) throws(RESTProblem) -> Change<Set<TrackSource>> {
    if case .array([])? = members[name] { return .remove }
    let all = TrackSource.allCases.map(\.rawValue)
    return try change(name, "a list of \(all.joined(separator: ", "))") {
      guard case .array(let items) = $0 else { return nil }
      var sources: Set<TrackSource> = []
      for item in items {
        guard case .string(let text) = item, let source = TrackSource(rawValue: text) else { return nil }
        sources.insert(source)
      }
      return sources
    }
  }

  /// Texts by key, each of which may be null.
  func pairs(_ name: String) throws(RESTProblem) -> Change<[String: Change<String>]> {
    try change(name, "an object of strings") {
      guard case .object(let members) = $0 else { return nil }
      var pairs: [String: Change<String>] = [:]
      for (key, value) in members {
        switch value {
        case .null: pairs[key] = .remove
        case .string(let text): pairs[key] = .set(text)
        default: return nil
        }
      }
      return pairs
    }
  }

  /// An object as it came, whatever is in it.
  /// - Parameter most: bytes of its text.
  func json(_ name: String, most: Int) throws(RESTProblem) -> Change<StrictJSON> {
    try change(name, "an object of at most \(most) bytes") {
      guard case .object = $0, $0.text.utf8.count <= most else { return nil }
      return $0
    }
  }

  /// Objects in a list; none where it is absent or null.
  func objects(_ name: String, most: Int, knowing names: Set<String>) throws(RESTProblem) -> [BodyReader] {
    let items: [StrictJSON]
    switch members[name] ?? .null {
    case .null: items = []
    case .array(let given) where given.count <= most: items = given
    default: throw wrong(name, "a list of at most \(most) objects")
    }
    var objects: [BodyReader] = []
    for (place, item) in items.enumerated() {
      guard case .object(let inner) = item else { throw wrong("\(name)[\(place)]", "an object") }
      objects.append(try BodyReader(inner, prefix: "\(prefix)\(name)[\(place)].", knowing: names))
    }
    return objects
  }

  /// - Returns: nil where it is absent; null is an empty one.
  func object(_ name: String, knowing names: Set<String>) throws(RESTProblem) -> BodyReader? {
    switch members[name] {
    case nil: return nil
    case .object(let inner): return try BodyReader(inner, prefix: "\(prefix)\(name).", knowing: names)
    default: throw wrong(name, "an object")
    }
  }
}

extension HTTPRequest {
  /// What its body says that it is, in lower case and without parameters.
  var mediaType: String? {
    headers["content-type"]?.split(separator: ";").first.map {
      $0.filter { $0 != " " && $0 != "\t" }.lowercased()
    }
  }
}

extension Change {
  /// Where null says no more than absence.
  var value: Value? { if case .set(let value) = self { value } else { nil } }
}
