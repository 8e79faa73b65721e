/// A room as its participants see it.
public struct RoomBody: Record {
  public static let definition = "Room"
  public static let summary = "A room; one of the same name made later has another id."

  public var id = ""
  public var name = ""
  public var metadata: String?

  public init() {}
  public init(id: String, name: String, metadata: String? = nil) {
    (self.id, self.name, self.metadata) = (id, name, metadata)
  }

  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.text("id", &id, .room)
    try coder.text("name", &name, .identity)
    try coder.text("metadata", &metadata, .any)
  }
}
