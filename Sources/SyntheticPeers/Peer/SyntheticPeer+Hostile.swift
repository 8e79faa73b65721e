package import Model

/// How far a peer goes that does as it likes.
package struct Hostility {
  package var isOn = false
  /// Goes on sending what it has stopped in its offers.
  package var ignoresStops = false
  /// Sealed media datagrams, the last ones, to be sent again.
  package internal(set) var kept: [(bytes: [UInt8], tag: UInt64)] = []
  /// Payloads that no parser takes.
  package internal(set) var malformedSent = 0
}

/// What a participant with good keys may do to those who get its tracks.
extension SyntheticPeer {
  package enum Attack: CaseIterable {
    /// Numbers jump, and nothing of what is between the jumps can be sent on: together they go further than a
    /// receiver's estimate of the SRTP index holds (RFC 3711 §3.3.1).
    case jumps
    /// The same without anything between: each is a jump by itself.
    case leaps
    /// Payloads that no parser takes.
    case malformed
    /// Timestamps step forward and back by a quarter of their range.
    case alternates
    /// Picture ids jump with each frame.
    case pictures
    /// Datagrams come once more.
    case replays
  }

  /// Does it to the source of that place; the numbers that it uses up are packets that never left.
  package func attack(_ attack: Attack, source index: Int, now: Instant) {
    guard session != nil, sources.indices.contains(index), sources[index].nextFrame != .never else { return }
    sources[index].log.isHostile = true
    switch attack {
    case .jumps where !sources[index].hasForm, .malformed where !sources[index].hasForm:
      sources[index].leap(&random)
    case .jumps:
      for _ in 0..<13 {
        sources[index].skip(2_900)
        sendMalformed(index)
      }
    case .leaps: sources[index].leap(&random)
    case .malformed: for _ in 0..<30 { sendMalformed(index) }
    case .alternates:
      sources[index].jump(by: random.next() % 2 == 0 ? 1 << 30 : 0 &- (1 << 30))
    case .pictures: sources[index].jumpPictures(by: UInt16(truncatingIfNeeded: random.next()))
    case .replays:
      guard let path = transport.mediaPath else { return }
      for kept in hostility.kept { outgoing.append(Outgoing(bytes: kept.bytes, path: path, tag: kept.tag)) }
    }
  }

  private func sendMalformed(_ index: Int) {
    guard let session, let path = transport.mediaPath else { return }
    let bytes = sources[index].makeMalformed()
    // Numbers that are too far from each other libsrtp doesn't seal.
    guard let sealed = try? session.sealRTP(bytes) else { return }
    outgoing.append(Outgoing(bytes: sealed, path: path, tag: 0))
    hostility.malformedSent += 1
  }

  package func keep(_ sealed: [UInt8], tag: UInt64) {
    guard hostility.isOn else { return }
    hostility.kept.append((sealed, tag))
    if hostility.kept.count > 64 { hostility.kept.removeFirst(32) }
  }
}
