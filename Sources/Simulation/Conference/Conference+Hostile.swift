internal import Model
internal import SyntheticPeers

/// A publisher with good keys that does as it likes, and then goes, stops or behaves: whose slots it was in must be no worse
/// off afterwards.
extension Conference {
  /// One participant's tracks, for a while.
  func turnHostile() {
    guard let participant = pick(), !participant.peer.hostility.isOn, !participant.ledger.allowance.isHidden
    else {
      return
    }
    journal.count(.hostileSource)
    journal.trace(now, "\(participant.number) turns hostile")
    participant.peer.hostility.isOn = true
    let span = Int64.random(in: 500_000_000...3_000_000_000, using: &random)
    attack(participant, until: now.advanced(byNanoseconds: span))
    let habit = random.next() % 3
    after(span) { [unowned self] in
      guard participant.isPresent else { return }
      participant.peer.hostility.isOn = false
      journal.trace(now, "\(participant.number) is done with it")
      switch habit {
      case 0: leave(participant)
      case 1:
        participant.peer.descriptions.publications = []
        negotiate(participant)
      default: break
      }
    }
  }

  private func attack(_ participant: Participant, until end: Instant) {
    guard participant.isPresent, participant.peer.hostility.isOn, now < end else { return }
    let attacks = SyntheticPeer.Attack.allCases
    let attack = attacks[Int(random.next() % UInt64(attacks.count))]
    let sources = participant.peer.sources.count
    if sources > 0 {
      participant.peer.attack(attack, source: Int(random.next() % UInt64(sources)), now: now)
      journal.count(.hostileAct)
      flush(participant)
    }
    after(Int64.random(in: 20_000_000...250_000_000, using: &random)) { [unowned self] in
      self.attack(participant, until: end)
    }
  }
}
