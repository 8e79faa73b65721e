import CallDesk
import Calls
import Synchronization

@testable import Gateway

/// Passes on to the rooms what was decided, at once or when the test lets it. Who reads events hears of it at once.
final class HeldOutlet: CallOutlet {
  private struct State {
    var rooms: CallRooms?
    var isHeld = false
    var held: [Aftermath] = []
  }

  private let state = Mutex(State())

  func passing(to rooms: CallRooms) -> HeldOutlet {
    state.withLock { $0.rooms = rooms }
    return self
  }

  func hold() { state.withLock { $0.isHeld = true } }

  func release() {
    let (rooms, held) = state.withLock { state in
      defer {
        state.held = []
        state.isHeld = false
      }
      return (state.rooms, state.held)
    }
    for aftermath in held { rooms?.perform(aftermath) }
  }

  func perform(_ aftermath: Aftermath) {
    let (rooms, isHeld) = state.withLock { state in
      if state.isHeld { state.held.append(aftermath) }
      return (state.rooms, state.isHeld)
    }
    if isHeld { rooms?.feeds.wake(aftermath.listeners) } else { rooms?.perform(aftermath) }
  }

  func readers(of person: PersonID) -> EventReaders {
    state.withLock { $0.rooms }?.readers(of: person) ?? EventReaders()
  }
}
