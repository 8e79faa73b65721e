import Model
import Wire

/// The streams that a section announces for the track that its owner sends.
struct SectionSources: Equatable {
  private(set) var encodings = [ReceiveEncoding()]
  /// Empty where none is announced, or one longer than RTCP can carry.
  private(set) var cname = ""

  init() {}

  /// - Parameter terms: where encodings have names, no SSRC is taken: none says which encoding it belongs to.
  init(of section: MediaDescription, _ terms: SectionTerms) {
    if !terms.rids.isEmpty { encodings = terms.rids.map { ReceiveEncoding(rid: $0.rid) } }
    let pairs = section.ssrcGroups.filter { $0.semantics == "FID" && $0.ssrcs.count == 2 }.map(\.ssrcs)
    guard var primary = section.ssrcs.first(where: { $0.ssrc != 0 })?.ssrc else { return }
    if let pair = pairs.first(where: { $0[1] == primary }), pair[0] != 0 { primary = pair[0] }

    let named = section.ssrcs.first { $0.ssrc == primary && $0.name == "cname" }?.attributeValue ?? ""
    cname = named.utf8.count <= 255 ? named : ""
    guard terms.rids.isEmpty else { return }
    let retransmits = terms.receiveCodecs.contains { $0.rtxPayloadType != nil }
    let media = terms.kind == .video ? section.simulcastSSRCs ?? [primary] : [primary]
    encodings = media.map { ssrc in
      let repair = pairs.first { $0[0] == ssrc && $0[1] != 0 && !media.contains($0[1]) }?[1]
      return ReceiveEncoding(ssrc: ssrc, rtxSSRC: retransmits ? repair : nil)
    }
  }

  var ssrcs: [UInt32] { encodings.flatMap(\.ssrcs) }
}

extension ReceiveEncoding {
  /// Those that are announced.
  var ssrcs: [UInt32] { [ssrc, rtxSSRC].compactMap(\.self) }
}

extension MediaDescription {
  /// The streams of a simulcast that is announced by SSRCs alone, as clients of before RIDs do it, from the smallest to the
  /// best; nil where there is none, or it isn't sound.
  fileprivate var simulcastSSRCs: [UInt32]? {
    guard let group = ssrcGroups.first(where: { $0.semantics == "SIM" && $0.ssrcs.count > 1 })?.ssrcs,
      !group.contains(0), Set(group).count == group.count
    else { return nil }
    return Array(group.suffix(ReceiveSection.mostEncodings))
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
    let announced = sources.ssrcs
    guard claimed.isDisjoint(with: announced), Set(announced).count == announced.count else {
      throw .duplicateSSRC
    }
    guard sources.encodings[0].ssrc != nil || terms.receiveExtensions[.mid] != 0 else { throw .unidentified }
    claimed.formUnion(announced)
    return sources
  }
}
