internal import Media
public import Model
internal import Peer
internal import Polling

extension WorkerCore {
  /// Takes what other threads left: messages first, then packets and datagrams.
  public mutating func takeMessages(now: Instant) {
    serve(now: now)
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.batchBackwards) {
        for message in exchange.mailboxes[index].take().reversed() { take(message, now: now) }
      }
    #endif
    for message in exchange.mailboxes[index].take() { take(message, now: now) }
    for worker in 0..<exchange.count where worker != index { drain(from: worker, now: now) }
  }

  /// At most as many records as one batch, so that a busy neighbour doesn't starve the socket.
  private static let drainLimit = 512

  private mutating func drain(from worker: Int, now: Instant) {
    let ring = exchange.ring(to: index, from: worker)
    for _ in 0..<Self.drainLimit {
      guard let record = ring.peek() else { return }
      let crossing = record.header.load(as: Crossing.self)
      switch crossing.kind {
      case .packet:
        if let feed = feeds.arrived(crossing.track, from: worker) {
          deliverHere(UnsafeRawBufferPointer(record.payload), crossing.info, feed: feed, now: now)
        }
      case .datagram:
        takeOver(record.payload, path: crossing.path, arrival: crossing.arrival, from: worker, now: now)
      }
      ring.advance(past: record)
    }
    // More is there: come back after the socket had its turn.
    exchange.mailboxes[index].poke()
  }

  private mutating func take(_ message: WorkerMessage, now: Instant) {
    switch message {
    case .command(let command): run(command, now: now)
    case .report(let answer):
      routing.pending.expire(now: now)
      answer(report())
    case .recording(let key, let answer): give(recordingOf: key, to: answer, now: now)
    case .explain(let question, let answer): answer(explain(question, now: now))
    case .routing(let message): take(message, now: now)
    case .track(let message): take(message, now: now)
    }
  }

  /// Passed on to the worker that has the peer, by its home.
  private mutating func passOn(_ message: WorkerMessage, of key: PeerKey, mayDrop: Bool = false) {
    guard let owner = routing.owner(of: key) else { return }
    if !exchange.mailboxes[owner].post(message, force: !mayDrop) { routing.counters.messagesDropped &+= 1 }
  }

  // MARK: - Of peers

  private mutating func take(_ message: RoutingMessage, now: Instant) {
    switch message {
    case .check(let check): takeCheck(check, now: now)
    case .adopted(let peer): adopt(peer, now: now)
    case .pathOwned(let path, let worker, let isProven, let former):
      routing.take(pathOwned: path, by: worker, isProven: isProven, former: former)
    case .pathReleased(let path, let worker): routing.take(pathReleased: path, by: worker)
    case .released(let key): routing.forget(key)
    }
  }

  private mutating func run(_ command: Command, now: Instant) {
    if case .add(let setup) = command { return add(setup, now: now) }
    guard let place = peers.find(command.peer) else {
      // Of a peer that is gone no fragment is kept: nothing would ever take it out again.
      if case .restartICE(let key, let local, _) = command, routing.isHome(of: key) {
        routing.addFragment(local.ufrag, of: key, served: nil)
      }
      // Adopted elsewhere: passed on. Gone: its `closed` is on the way.
      return passOn(.command(command), of: command.peer)
    }
    switch command {
    case .add: break
    case .apply(_, let media):
      peers.pointer(place).pointee.apply(media, context: &context)
      linkTracks(place, now: now)
    case .restartICE(let key, let local, let remote):
      peers.pointer(place).pointee.restartICE(local: local, remote: remote)
      routing.addFragment(local.ufrag, of: key, served: peers.pointer(place).pointee.servedFragments)
      routing.counters.iceRestarts &+= 1
    case .assign(_, let slot, let track): assign(place, slot: Int(slot), to: track, now: now)
    case .prefer(_, let slot, let picture):
      peers.pointer(place).pointee.setPicture(slot: Int(slot), picture)
    case .mute(let track, let muted):
      peers.pointer(place).pointee.setMuted(receiver: Int(track.index), muted)
      feeds.groups.mute(track, muted)
      if muted { hideMuted(place, receiver: Int(track.index)) }
    case .describe(let track, let traits):
      peers.pointer(place).pointee.setTraits(receiver: Int(track.index), traits)
      feeds.groups.describe(track, traits)
    case .resize(let track, let sizes):
      peers.pointer(place).pointee.setSizes(receiver: Int(track.index), sizes)
    case .close: return remove(place, reason: .requested, now: now)
    case .dismiss: return dismiss(place, now: now)
    }
    settle(place, now: now)
  }

  // MARK: - Of tracks

  private mutating func take(_ message: TrackMessage, now: Instant) {
    switch message {
    case .relayWanted(let track, let worker): startRelay(track, to: worker)
    case .relayUnwanted(let track, let worker):
      if let feed = feeds.findPublished(track) {
        _ = feeds.unsubscribe(.relay(worker: worker), from: feed)
      } else {
        passOn(.track(message), of: track.peer)
      }
    case .keyFrameWanted(let track, let worker):
      if let feed = feeds.findPublished(track) {
        keyFrameNeeded(by: .relay(worker: worker), of: feed, now: now)
      } else {
        passOn(.track(message), of: track.peer, mayDrop: true)
      }
    case .watched(let track):
      if let feed = feeds.findPublished(track) {
        feeds.pointer(feed).pointee.watchedElsewhere = now
      } else {
        passOn(.track(message), of: track.peer, mayDrop: true)
      }
    case .lost(let track, let fraction):
      if let feed = feeds.findPublished(track) {
        feeds.pointer(feed).pointee.relayedLoss.note(fraction, now: now)
        #if PLANTED_DEFECTS
          if PlantedDefect.isOn(.farLossAlone) { return }
        #endif
        // If all listeners are on other workers, only their reports trigger the measurement.
        measureLossInTime(feed, now: now)
      } else {
        passOn(.track(message), of: track.peer, mayDrop: true)
      }
    case .clock(let track, let mapping, let worker):
      guard let feed = feeds.findRelayed(track) else { return }
      feeds.pointer(feed).pointee.source = .relay(worker: worker)
      setClock(feed, mapping)
    case .muted(let track, let incarnation):
      if let feed = feeds.findRelayed(track) { feeds.pointer(feed).pointee.picture.mute(incarnation) }
    case .over(let track):
      if let feed = feeds.findRelayed(track) { feeds.pointer(feed).pointee.picture.forget() }
    case .layers(let track, let layers):
      guard !feeds.encodings(of: track).isEmpty, feeds.findPublished(track) == nil else { return }
      feeds.groups.hear(track, layers, now: now)
    case .ended(let track):
      if let feed = feeds.findRelayed(track) { end(feed, now: now) }
    case .sinkAdded(let sink, let kind): add(sink, kind: kind, now: now)
    case .sinkRemoved(let sink): remove(sink)
    case .wanted(let request, let sink): take(request, by: sink, now: now)
    }
  }

  mutating func startRelay(_ track: TrackKey, to worker: Int) {
    if let feed = feeds.findPublished(track) {
      guard worker != index else { return }
      feeds.subscribe(.relay(worker: worker), to: feed)
      // It counts until it has had time to say whether its consumers watch.
      feeds.pointer(feed).pointee.watchedElsewhere = nil
      feeds.sendClock(feed, to: worker)
      if let layers = feeds.groups.layers(of: track) { feeds.post(.layers(track.track, layers), to: worker) }
    } else if routing.owner(of: track.peer) != nil {
      passOn(.track(.relayWanted(track, by: worker)), of: track.peer)
    } else {
      feeds.post(.ended(track), to: worker)
    }
  }
}
