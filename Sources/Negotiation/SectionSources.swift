import Model
import Wire

/// The SSRCs that a section announces for the track that its owner sends.
struct SectionSources: Equatable {
  var ssrc: UInt32?
  var rtxSSRC: UInt32?
  /// Empty where none is announced, or one longer than RTCP can carry.
  var cname = ""

  init() {}

  /// - Parameter terms: with an encoding chosen no SSRC is taken: none says which encoding it belongs to.
  init(of section: MediaDescription, _ terms: SectionTerms) {
    let pairs = section.ssrcGroups.filter { $0.semantics == "FID" && $0.ssrcs.count == 2 }.map(\.ssrcs)
    guard var primary = section.ssrcs.first(where: { $0.ssrc != 0 })?.ssrc else { return }
    if let pair = pairs.first(where: { $0[1] == primary }), pair[0] != 0 { primary = pair[0] }

    let named = section.ssrcs.first { $0.ssrc == primary && $0.name == "cname" }?.attributeValue ?? ""
    cname = named.utf8.count <= 255 ? named : ""
    guard terms.rid == nil else { return }
    ssrc = primary
    guard terms.receiveCodecs.contains(where: { $0.rtxPayloadType != nil }) else { return }
    rtxSSRC = pairs.first { $0[0] == primary && $0[1] != 0 && $0[1] != primary }?[1]
  }
}

/// Sees to it that each stream of a description belongs to one section, and can be found.
struct SourceClaims: Equatable {
  private var claimed: Set<UInt32> = []

  /// The SSRCs of a section's track; none where the section doesn't send.
  mutating func claim(
    _ section: MediaDescription, _ terms: SectionTerms
  ) throws(DeclineReason) -> SectionSources {
    guard terms.receives else { return SectionSources() }
    let sources = SectionSources(of: section, terms)
    let announced = [sources.ssrc, sources.rtxSSRC].compactMap { $0 }
    guard claimed.isDisjoint(with: announced) else { throw .duplicateSSRC }
    guard sources.ssrc != nil || terms.receiveExtensions[.mid] != 0 else { throw .unidentified }
    claimed.formUnion(announced)
    return sources
  }
}
