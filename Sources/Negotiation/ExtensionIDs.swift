import Model
import Wire

/// Holds the ids of header extensions together: in all sections of a bundle an id means one extension and one
/// extension has one id (RFC 9143 §9.2), and what was agreed on once stays.
struct ExtensionIDs: Equatable {
  /// Agreed on, for the transport's life.
  private(set) var agreed: HeaderExtensionMap
  /// Everything that accepted sections of this description list, unknown extensions too.
  private var listed: [UInt16: String] = [:]

  init(agreed: HeaderExtensionMap) { self.agreed = agreed }

  /// No id that stands for something stands here for something else.
  func agree(with extensions: [ExtensionAttribute]) -> Bool {
    var inSection: [UInt16: String] = [:]
    for item in extensions {
      if let uri = listed[item.id] ?? inSection[item.id], uri != item.uri { return false }
      if let id = UInt8(exactly: item.id), let kind = agreed.kind(of: id), kind.uri != item.uri {
        return false
      }
      inSection[item.id] = item.uri
    }
    return true
  }

  /// This extension may have this id.
  func takes(_ kind: HeaderExtension, _ id: UInt8) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.extensionMoved) { return true }
    #endif
    return agreed[kind] == 0 || agreed[kind] == id
  }

  /// A section was accepted.
  mutating func adopt(_ terms: SectionTerms, listing extensions: [ExtensionAttribute]) {
    for item in extensions { listed[item.id] = item.uri }
    for item in terms.extensions { agreed[item.kind] = item.id }
  }
}
