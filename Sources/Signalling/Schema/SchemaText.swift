/// JSON whose members stand in the order in which they were put, as people read a schema.
indirect enum SchemaText: Equatable, Sendable {
  case text(String)
  case integer(Int)
  case flag(Bool)
  case list([SchemaText])
  case object([(String, SchemaText)])

  /// Indented by two spaces a level.
  func lines(_ indent: String = "") -> String {
    let inner = indent + "  "
    switch self {
    case .text(let text): return String(decoding: FieldWriter.quoted(text), as: UTF8.self)
    case .integer(let number): return String(number)
    case .flag(let flag): return flag ? "true" : "false"
    case .list(let items):
      return "[\n" + items.map { inner + $0.lines(inner) }.joined(separator: ",\n") + "\n\(indent)]"
    case .object(let members):
      return "{\n"
        + members.map { #"\#(inner)"\#($0.0)": \#($0.1.lines(inner))"# }.joined(separator: ",\n")
        + "\n\(indent)}"
    }
  }

  static func reference(_ definition: String) -> SchemaText {
    .object([("$ref", .text("#/$defs/\(definition)"))])
  }

  static func type(_ name: String) -> SchemaText { .object([("type", .text(name))]) }

  static func == (one: SchemaText, other: SchemaText) -> Bool { one.lines() == other.lines() }
}
