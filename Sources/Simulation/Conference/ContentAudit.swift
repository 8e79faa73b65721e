internal import Model
internal import SyntheticPeers

/// Holds what one packet says of its codec and its frames against what was sent.
struct ContentAudit {
  let section: ReceiveSection
  let dialect: Dialect

  /// Whether packets of the codec can't be given to the subscriber in any form.
  func lacks(_ codec: Codec) -> Bool { outgoing(codec) == nil }

  /// What a packet goes on in: RED's newest block alone where there is no RED.
  private func outgoing(_ codec: Codec) -> Codec? {
    let known = Set(section.codecs.map(\.codec))
    switch codec {
    case .red: return known.contains(.opus) ? known.contains(.red) ? .red : .opus : nil
    default: return known.contains(codec) ? codec : nil
    }
  }

  /// The server has put packets of before around it, for a subscriber that loses some. What they say is held against what was sent
  /// as they are read.
  private func isProtected(_ packet: PublishedTrack.Packet, _ entry: ReceivedStream.Entry) -> Bool {
    packet.codec == .opus && entry.codec == .red && outgoing(.red) == .red
  }

  /// - Returns: what is wrong with the packet.
  func problem(
    _ packet: PublishedTrack.Packet, _ entry: ReceivedStream.Entry, _ journal: Journal
  ) -> String? {
    guard entry.codec == outgoing(packet.codec) || isProtected(packet, entry) else {
      return "in \(entry.codec), sent in \(packet.codec)"
    }
    count(packet, entry, journal)
    guard entry.isVideo, section.extensions[.dependencyDescriptor] != 0 else { return nil }
    let isExpected = !packet.descriptor.isEmpty && holds(packet.descriptor)
    guard isExpected else {
      if !packet.descriptor.isEmpty { journal.count(.dependencyLeftOut) }
      return entry.descriptor.isEmpty ? nil : "with a dependency descriptor that was not to be"
    }
    journal.count(.dependencyForwarded)
    guard entry.descriptor.count == packet.descriptor.count, entry.descriptor[0] == packet.descriptor[0],
      entry.descriptor.dropFirst(3) == packet.descriptor.dropFirst(3)
    else { return "with another dependency descriptor" }
    return nil
  }

  /// The one-byte form ends at 16 bytes (RFC 8285 §4.2).
  private func holds(_ descriptor: [UInt8]) -> Bool { dialect.mixesExtensions || descriptor.count <= 16 }

  private func count(_ packet: PublishedTrack.Packet, _ entry: ReceivedStream.Entry, _ journal: Journal) {
    switch (packet.codec, entry.codec) {
    case (.red, .red): journal.count(.redForwarded)
    case (.opus, .red): journal.count(.redAdded)
    case (.red, _): journal.count(.redUnwrapped)
    case (.vp9, _): journal.count(.vp9Forwarded)
    case (.h264, _): journal.count(.h264Forwarded)
    case (.h265, _): journal.count(.h265Forwarded)
    case (.av1, _): journal.count(.av1Forwarded)
    case (.pcmu, _): journal.count(.pcmuForwarded)
    case (.g722, _): journal.count(.g722Forwarded)
    default: break
    }
  }
}
