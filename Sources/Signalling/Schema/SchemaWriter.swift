/// Describes the fields of a record (JSON Schema, draft 2020-12).
struct SchemaWriter: FieldCoder {
  typealias Failure = Never

  private var properties: [(String, SchemaText)] = []
  private var required: [SchemaText] = []

  /// The definition of a record.
  static func describe<Value: Record>(_ type: Value.Type) -> SchemaText {
    var writer = SchemaWriter()
    if let message = type as? any Message.Type {
      writer.properties.append(("type", .object([("const", .text(message.type))])))
      writer.required.append(.text("type"))
      if message.id != .none { writer.properties.append(("id", .reference("RequestID"))) }
      if message.id == .required { writer.required.append(.text("id")) }
    }
    var value = Value()
    value.fields(&writer)
    var members: [(String, SchemaText)] = [
      ("type", .text("object")), ("description", .text(Value.summary)),
      ("properties", .object(writer.properties)),
    ]
    if !writer.required.isEmpty { members.append(("required", .list(writer.required))) }
    return .object(members)
  }

  /// The definition of a set of words.
  static func describe<Value: Word>(words: Value.Type) -> SchemaText {
    .object([("description", .text(Value.summary)), ("enum", list(words))])
  }

  private static func list<Value: Word>(_ words: Value.Type) -> SchemaText {
    .list(Value.allCases.map { .text($0.rawValue) })
  }

  private mutating func put(_ field: Field, _ schema: SchemaText, isRequired: Bool) {
    var schema = schema
    if !field.note.isEmpty, case .object(var members) = schema {
      // Behind the type, where there is one.
      members.insert(("description", .text(field.note)), at: members.first?.0 == "type" ? 1 : 0)
      schema = .object(members)
    }
    properties.append((field.name, schema))
    if isRequired { required.append(.text(field.name)) }
  }

  // MARK: - Texts

  private func schema(_ bounds: TextBounds) -> SchemaText {
    if let definition = bounds.definition { return .reference(definition) }
    var members: [(String, SchemaText)] = [
      ("type", bounds.isNullable ? .list([.text("string"), .text("null")]) : .text("string"))
    ]
    if let pattern = bounds.pattern { members.append(("pattern", .text(pattern))) }
    if let stated = bounds.stated {
      if stated.lowerBound > 0 { members.append(("minLength", .integer(stated.lowerBound))) }
      members.append(("maxLength", .integer(stated.upperBound)))
    }
    return .object(members)
  }

  mutating func text(_ field: Field, _ value: inout String, _ bounds: TextBounds) {
    put(field, schema(bounds), isRequired: true)
  }

  mutating func text(_ field: Field, _ value: inout String?, _ bounds: TextBounds) {
    put(field, schema(bounds), isRequired: false)
  }

  mutating func nullableText(_ field: Field, _ value: inout String?, _ bounds: TextBounds) {
    put(field, .object([("anyOf", .list([schema(bounds), .type("null")]))]), isRequired: true)
  }

  private func list(_ items: SchemaText, _ bounds: ListBounds) -> SchemaText {
    var members: [(String, SchemaText)] = [("type", .text("array")), ("items", items)]
    if bounds.isOptional { members.append(("maxItems", .integer(bounds.limit))) }
    return .object(members)
  }

  mutating func texts(_ field: Field, _ value: inout [String], _ bounds: ListBounds) {
    put(field, list(.type("string"), bounds), isRequired: !bounds.isOptional)
  }

  mutating func texts(_ field: Field, _ value: inout [String]?, _ bounds: ListBounds) {
    put(field, list(.type("string"), bounds), isRequired: false)
  }

  mutating func attributes(_ field: Field, _ value: inout [String: String]) {
    put(field, .reference("Attributes"), isRequired: true)
  }

  mutating func attributes(_ field: Field, _ value: inout [String: String]?) {
    put(field, .reference("Attributes"), isRequired: false)
  }

  mutating func bytes(_ field: Field, _ value: inout [UInt8], limit: Int?) {
    var members: [(String, SchemaText)] = [("type", .text("string"))]
    if let limit { members.append(("maxLength", .integer(limit))) }
    put(field, .object(members), isRequired: true)
  }

  // MARK: - Flags, numbers and words

  mutating func flag(_ field: Field, _ value: inout Bool) { put(field, .type("boolean"), isRequired: true) }

  mutating func flag(_ field: Field, _ value: inout Bool, or fallback: Bool) {
    put(
      field, .object([("type", .text("boolean")), ("default", .flag(fallback))]), isRequired: false)
  }

  mutating func integer(_ field: Field, _ value: inout Int, _ bounds: ClosedRange<Int>) {
    put(field, Self.integer(bounds), isRequired: true)
  }

  mutating func integer(_ field: Field, _ value: inout Int?, _ bounds: ClosedRange<Int>) {
    put(field, Self.integer(bounds), isRequired: false)
  }

  private static func integer(_ bounds: ClosedRange<Int>) -> SchemaText {
    var members: [(String, SchemaText)] = [
      ("type", .text("integer")), ("minimum", .integer(bounds.lowerBound)),
    ]
    if bounds.upperBound < .max { members.append(("maximum", .integer(bounds.upperBound))) }
    return .object(members)
  }

  mutating func share(_ field: Field, _ value: inout Double) {
    put(
      field,
      .object([("type", .text("number")), ("minimum", .integer(0)), ("maximum", .integer(1))]),
      isRequired: true)
  }

  mutating func number(_ field: Field, _ value: inout Double?) {
    put(field, .object([("type", .text("number")), ("minimum", .integer(0))]), isRequired: false)
  }

  private func schema<Value: Word>(_ words: Value.Type) -> SchemaText {
    Value.definition.map { .reference($0) } ?? .object([("enum", Self.list(words))])
  }

  mutating func word<Value: Word>(_ field: Field, _ value: inout Value) {
    put(field, schema(Value.self), isRequired: true)
  }

  mutating func word<Value: Word>(_ field: Field, _ value: inout Value?) {
    put(field, schema(Value.self), isRequired: false)
  }

  mutating func words<Value: Word>(_ field: Field, _ value: inout [Value]?) {
    put(field, list(schema(Value.self), .words(Value.allCases.count)), isRequired: false)
  }

  // MARK: - Records

  mutating func record<Value: Record>(_ field: Field, _ value: inout Value) {
    put(field, .reference(Value.definition), isRequired: true)
  }

  mutating func record<Value: Record>(_ field: Field, _ value: inout Value?) {
    put(field, .reference(Value.definition), isRequired: false)
  }

  mutating func records<Value: Record>(_ field: Field, _ value: inout [Value], _ bounds: ListBounds) {
    put(field, list(.reference(Value.definition), bounds), isRequired: !bounds.isOptional)
  }

  mutating func records<Value: Record>(_ field: Field, _ value: inout [Value]?, _ bounds: ListBounds) {
    put(field, list(.reference(Value.definition), bounds), isRequired: false)
  }

  mutating func records<Value: Record>(
    _ field: Field, _ value: inout [Written<Value>], _ bounds: ListBounds
  ) {
    put(field, list(.reference(Value.definition), bounds), isRequired: !bounds.isOptional)
  }

  mutating func choice<Value: RecordChoice>(_ field: Field, _ value: inout Value?) {
    let either: [SchemaText] = [
      .reference(Value.First.definition), .reference(Value.Second.definition),
    ]
    put(field, .object([("anyOf", .list(either))]), isRequired: false)
  }

  mutating func opaque(_ field: Field, _ value: inout OpaqueJSON, limit: Int?) {
    put(field, .object([]), isRequired: false)
  }

  mutating func requestID(_ value: inout RequestID?) {
    put("id", .reference("RequestID"), isRequired: false)
  }

  mutating func unread(_ field: Field) { put(field, .type("string"), isRequired: false) }
  mutating func require(_ name: String, _ expected: String, _ isMet: @autoclosure () -> Bool) {}
}
