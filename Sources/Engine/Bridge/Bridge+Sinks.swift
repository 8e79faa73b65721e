package import Model
internal import Polling

/// Sinks, for what stands outside the workers and yet wants a track's packets.
extension Bridge {
  /// Has a worker serve a sink. Any worker can: a track of another one is relayed to it. The sink ends with its track, with the
  /// worker, and at once where there is no such track or the worker serves as many sinks as it may, which it says.
  package func add(_ sink: TrackSink, kind: MediaKind, at worker: Int) {
    post(.sinkAdded(sink, kind: kind), to: worker)
  }

  /// Nothing more comes to it, once the worker has got word.
  package func remove(_ sink: TrackSink, at worker: Int) { post(.sinkRemoved(sink), to: worker) }

  /// Asks for a key frame, or for a packet again.
  package func ask(_ request: TrackRequest, for sink: TrackSink, at worker: Int) {
    post(.wanted(request, by: sink), to: worker)
  }

  private func post(_ message: TrackMessage, to worker: Int) {
    _ = exchange.mailboxes[worker].post(.track(message), force: !message.mayDrop)
  }
}
