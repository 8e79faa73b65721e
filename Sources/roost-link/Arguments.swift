internal import Simulation

/// What the command line asks for.
struct Arguments {
  var here = "link0"
  var there = "link1"
  var down = LinkConditions(delay: 0)
  var up = LinkConditions(delay: 0)
  var seed: UInt64 = 1

  static let help = """
    roost-link joins two network namespaces by a link with a delay, a rate and losses. It makes two TUN
    devices, one for each end; what is routed into one comes out at the other, by the network emulator of the
    simulation on the clock of the wall. It needs the right to make devices (root, or a user namespace).

    USAGE
      roost-link [--here NAME] [--there NAME] [--down "SETTINGS"] [--up "SETTINGS"] [--seed N]

    OPTIONS
      --here NAME      the device on this side (link0)
      --there NAME     the device on the other side (link1)
      --down SETTINGS  what happens to packets from here to there, as a viewer sees it who is there
      --up SETTINGS    what happens to packets from there to here
      --seed N         decides which packets are lost (1)
      --help

    SETTINGS, separated by spaces; what isn't named stays as it is
      rate=N           bits a second, IP headers included; 0 for no bound (0)
      queue=N          bytes that may wait for a rate; what comes on top is dropped (64000)
      delay=N          milliseconds (0)
      jitter=N         on top, evenly from 0 to N milliseconds; no packet overtakes another by it (0)
      loss=N           probability, each packet by itself (0)
      duplication=N    probability (0)
      reordering=N     probability that a packet comes up to `span` later than its turn (0)
      span=N           milliseconds (5)

    It prints `ready NAME NAME` once both devices are there, in its own namespace. Move one, give both
    addresses, and set them up:

      ip link set link1 netns OTHER
      ip address add 10.0.0.1/24 dev link0; ip link set link0 up
      ip -n OTHER address add 10.0.0.2/24 dev link1; ip -n OTHER link set link1 up

    COMMANDS, a line each on standard input
      down SETTINGS    changes a direction while it runs, and prints its settings as they are then
      up SETTINGS
      counts           prints what each direction has carried

    It ends with standard input, and so with the program that started it, and prints the counts once more. With
    `late`, the most milliseconds by which a packet came after its time, they say how well this machine kept up;
    `refused` packets came while a device was down.

    EXAMPLES
      roost-link --down "rate=300000 queue=11250 delay=25 loss=0.05" --up "delay=25"
      down rate=3000000 queue=112500
    """

  enum Failure: Error {
    case help
    case text(String)
  }

  init(_ words: [String]) throws(Failure) {
    var words = words[...]
    while let word = words.popFirst() {
      if word == "--help" || word == "-h" { throw .help }
      guard ["--here", "--there", "--down", "--up", "--seed"].contains(word) else {
        throw .text("unknown option \(word); see roost-link --help")
      }
      guard let value = words.popFirst() else { throw .text("\(word) needs a value; see roost-link --help") }
      do throws(LinkSettingError) {
        switch word {
        case "--here": here = value
        case "--there": there = value
        case "--down": try down.apply(value)
        case "--up": try up.apply(value)
        default:
          guard let number = UInt64(value) else { throw LinkSettingError.value(value) }
          seed = number
        }
      } catch {
        throw .text("\(word): \(error.text)")
      }
    }
    guard here != there else { throw .text("the two devices need different names") }
  }
}
