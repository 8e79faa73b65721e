extension LoadOptions {
  public static let help = """
    roost-load puts synthetic participants into the rooms of a Roost server and counts what arrives. Each has a
    socket, ICE, DTLS and SRTP (libsrtp) of its own, joins over a WebSocket as a browser does, and compares
    every byte that it receives with what was sent.

    With --real it encodes moving pictures and tones instead, decodes what arrives, and compares that: the number that is
    drawn in each picture, the picture around it, and the pitch.

    With --calls people call each other instead: each call is started over REST, rings at one who reads events, is answered,
    talked in and hung up.

    USAGE
      roost-load [--url ws://HOST:PORT] [--rooms N] [--publishers N] [--subscribers N] [--video RATE] [--audio] [--real]
      roost-load [--url ws://HOST:PORT] --calls N [--rate N] [--talk S] [--restarts]

    WHERE
      --url URL          ws:// or wss://, http:// or https:// (ws://127.0.0.1:7880)
      --key K            API key and secret that sign the tokens (devkey, secret); also by ROOST_LOAD_KEY and
      --secret S         ROOST_LOAD_SECRET, which other users of the machine can't see
      --insecure         accept any certificate, such as that of a server with --lan
      --media HOST:PORT  send media to this IP address and port instead of the server's candidates
      --room PREFIX      name rooms PREFIX-1 and so on (load)
      --identity PREFIX  name participants PREFIX-0 and so on (load); an identity is in a room once, so that two
                         processes with one room need two

    WHAT
      --rooms N          (1)
      --publishers N     in each room (1)
      --subscribers N    in each room (1)
      --mesh             publishers also receive each other
      --whip             publish by WHIP instead of the native door
      --whep             subscribe by WHEP instead of the native door
      --video RATE       of each publisher, in bits per second: 1.5M, 300k (no video)
      --video-files F,F  play VP8 of IVF files over and over, for people who watch: one to three, the layers of a
                         simulcast, the largest first; with --subscribers 0, as nothing in it can be counted
      --layers N         send the picture of --video in N encodings of a simulcast, 1 to 3, of which the server chooses one
                         for each subscriber; pictures are counted that come whole, not packets; without --audio (1)
      --audio            Opus packets, 50 per second
                         without --video, --audio and --real: both, 1.5M
      --real             encode and decode: VP8 of 320 × 180, 15 pictures a second, and Opus; a picture counts once it is
                         decoded and found to be right
      --others N         also receive N audio and N video tracks of other people in the room; their
                         packets are counted as foreign (0)
      --ping MS          time the WebSocket by a ping every MS milliseconds (every 20 s, as the server asks)
      --nack off         don't request lost packets (on); audio is never requested again, as in browsers
      --feedback on      tell the server when packets arrive, as browsers do: it estimates the path, probes it, and
                         leaves out video that doesn't fit (off: everything comes)

    HOW LONG
      --duration S       seconds to measure, once everyone has joined (10)
      --join-rate N      joins started per second (50)
      --join-timeout S   seconds after which a join has failed (10; of a call 30)
      --settle S         seconds between the last join and the first that is measured: with --feedback on the
                         server finds in them what each path carries (0)

    HOW MUCH
      --ramp UNIT:N      measure, then let N more in, and again until a limit breaks: subscribers:N of each room, or
                         rooms:N with all that is in one; each step is measured for --duration
      --ramp-to N        stop before there are more than N participants (4000)
      --most-loss P      percent that may be lost (1)
      --most-delay MS    milliseconds that 95 of 100 may take (200)

    CALLS
      --calls N          in all, each of two people of its own
      --rate N           started per second (10)
      --talk S           seconds for which the two of a call hear each other (5)
      --restarts         someone else kills the server and starts it again meanwhile: what isn't answered is asked again
                         with the same ids, streams go on behind their last event, people come back to their calls

    OUTPUT
      --picture FILE     draw delay and loss over time as SVG
      --json             print the results as one JSON object; progress goes to standard error
      --quiet            no progress

    Expected packets and pictures are counted at the publishers, times their subscribers, never from the sequence
    numbers that arrived. The exit status is 1 if a participant couldn't join, was disconnected or received what was
    never sent, and with --real if a picture or a tone was wrong or nothing came of a track; of a ramp if its first step
    broke. With --calls it is 1 if a call wasn't started, connected and over in time, or if a history, an event or a packet
    was wrong; with --restarts a call may be missed or failed where that fits. It is 2 if the command line is wrong.

    With --calls all requests come from one address: give the server room by limits.requestsPerAddress, some ten times the
    rate, limits.requestsAtOncePerAddress and http.connectionsPerAddress.

    With --real one processor encodes about 60 publishers and decodes about 150 tracks. "no time here for" says that this
    machine was too slow, which is no fault of the server's.

    EXAMPLES
      roost-load --publishers 4 --subscribers 40 --video 1.5M --audio --duration 60
      roost-load --rooms 10 --publishers 3 --subscribers 0 --mesh --audio
      roost-load --subscribers 50 --join-rate 25 --video 1.5M --layers 3 --feedback on
      roost-load --calls 500 --rate 50 --talk 5
      roost-load --real --publishers 2 --subscribers 6 --duration 30
      roost-load --real --publishers 2 --ramp subscribers:4 --duration 10 --picture ramp.svg
    """
}
