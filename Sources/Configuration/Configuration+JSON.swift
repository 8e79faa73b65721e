extension Configuration {
  /// This configuration on one line, for programs; secrets are hidden.
  public var json: String {
    Self.object(ConfigurationSchema.options.map { ($0.name.split(separator: ".")[...], $0.render(self)) })
  }

  /// - Parameter options: by their names below this object; those of one group stand together. What is rendered is JSON.
  private static func object(_ options: [(name: ArraySlice<Substring>, value: String)]) -> String {
    var members: [(name: Substring, value: String)] = []
    var rest = options[...]
    while let (name, value) = rest.first, let first = name.first {
      guard name.count > 1 else {
        members.append((first, value))
        rest.removeFirst()
        continue
      }
      let group = rest.prefix { $0.name.count > 1 && $0.name.first == first }
      members.append((first, object(group.map { ($0.name.dropFirst(), $0.value) })))
      rest = rest.dropFirst(group.count)
    }
    return "{" + members.map { "\(JSONTree.quoted($0.name)): \($0.value)" }.joined(separator: ", ") + "}"
  }
}
