internal import Model
internal import Wire

extension SendSection {
  /// The beginning of a packet of this section, up to where its payload goes, with the extensions that were agreed on.
  /// - Parameters:
  ///   - level: nil: the packet doesn't say how loud it is.
  ///   - carried: further extensions; those without bytes are left out.
  ///   - room: bytes of payload that are reserved beside.
  ///   - transportSequence: is counted on where the packet has one.
  func header(
    _ marker: Bool, _ payloadType: UInt8, _ sequence: UInt16, _ timestamp: UInt32, _ ssrc: UInt32,
    namesSection: Bool, level: AudioLevel?, carried: [(kind: HeaderExtension, data: [UInt8])] = [], room: Int,
    _ transportSequence: inout UInt16
  ) -> [UInt8] {
    let ids = extensions
    let mid = namesSection && ids[.mid] != 0 ? MIDBytes(self.mid) : nil
    // Each packet is in the form that it needs (RFC 8285 §4.1.2).
    var form = HeaderExtensionForm.oneByte
    if let mid { form.admit(id: ids[.mid], size: mid.count) }
    if ids[.audioLevel] != 0 && level != nil { form.admit(id: ids[.audioLevel], size: 1) }
    if ids[.transportSequence] != 0 { form.admit(id: ids[.transportSequence], size: 2) }
    for (kind, data) in carried where !data.isEmpty { form.admit(id: ids[kind], size: data.count) }
    return [UInt8](unsafeUninitializedCapacity: 96 + room + SRTPSession.room) { buffer, count in
      let buffer = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<96])
      guard
        var writer = RTPWriter(
          into: buffer, marker: marker, payloadType: payloadType, sequence: sequence, timestamp: timestamp,
          ssrc: ssrc, form: form)
      else { return }
      if let mid { writer.append(id: ids[.mid], mid) }
      if ids[.audioLevel] != 0, let level {
        var byte = level.byte
        writer.append(id: ids[.audioLevel], &byte, size: 1)
      }
      if ids[.transportSequence] != 0 {
        writer.append(id: ids[.transportSequence], transportSequence)
        transportSequence &+= 1
      }
      for (kind, data) in carried where !data.isEmpty { writer.append(id: ids[kind], data, size: data.count) }
      count = writer.finish()
    }
  }
}
