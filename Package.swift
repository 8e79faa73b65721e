// swift-tools-version: 6.2
import PackageDescription

/// Mistakes for the tests and the simulation to find are compiled in only where this says so, which no server is.
let defects: [SwiftSetting] =
  Context.environment["ROOST_DEFECTS"] == "1" ? [.define("PLANTED_DEFECTS")] : []

/// Every target of ours: warnings are errors, imports say what they lend on.
let strict: [SwiftSetting] =
  defects + [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
  ]

/// A library in Sources/, which sees only what it names.
func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// The mirror of a library in Tests/.
func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .testTarget(name: name + "Tests", dependencies: dependencies, swiftSettings: strict)
}

/// Rows as in docs/architecture.md; `scripts/check-imports` holds the sources to the same table.
let package = Package(
  name: "roost",
  targets: [
    .systemLibrary(name: "CSystem"),
    .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CSRTP", pkgConfig: "libsrtp2", providers: [.apt(["libsrtp2-dev"])]),
    .systemLibrary(
      name: "CMicroHTTPD", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
    .systemLibrary(name: "CWslay", providers: [.apt(["libwslay-dev"])]),
    .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    .systemLibrary(name: "CVPX", pkgConfig: "vpx", providers: [.apt(["libvpx-dev"])]),
    .systemLibrary(name: "COpus", pkgConfig: "opus", providers: [.apt(["libopus-dev"])]),

    module("Model"),
    module("Logging", ["Model"]),
    module("Polling", ["Model", "CSystem"]),
    module("Wire", ["Model"]),
    module("Crypto", ["Model", "COpenSSL", "CSRTP"]),
    // What makes and checks media; no part of the server.
    module("Codecs", ["CVPX", "COpus"]),
    module("ICE", ["Model", "Wire", "Crypto"]),
    module("Congestion", ["Model", "Wire"]),
    module("AccessTokens", ["Model", "Crypto"]),
    module("Containers", ["Model", "Wire"]),
    module("Calls", ["Model"]),
    module("KeyLog", ["Crypto"]),
    module("Media", ["Model", "Wire", "Congestion"]),
    module("Negotiation", ["Model", "Wire"]),
    module("Signalling", ["Model", "AccessTokens"]),
    module("Transport", ["Model", "Wire", "Crypto", "ICE"]),
    module("Peer", ["Model", "Wire", "Crypto", "ICE", "Congestion", "Media", "Transport"]),
    module(
      "Engine",
      [
        "Model", "Logging", "Polling", "Wire", "Crypto", "ICE", "Congestion", "Media", "Transport", "Peer",
        "CSystem",
      ]),
    module("Recording", ["Model", "Logging", "Polling", "Wire", "Media", "Containers", "Engine", "CSystem"]),
    module("HTTPServer", ["Model", "Polling", "Crypto", "CSystem", "CMicroHTTPD", "CWslay"]),
    module("WebSocketClient", ["Model", "Crypto", "CCurl", "CWslay"]),
    module("HTTPClient", ["Model", "Polling", "CCurl"]),
    module("Push", ["Model", "Logging", "Crypto", "AccessTokens", "HTTPClient"]),
    module("Configuration", ["Model"]),
    module("Storage", ["Model", "Logging", "Polling", "CSystem", "CSQLite", "CPostgreSQL"]),
    module("KeyDirectory", ["Model", "Crypto", "KeyLog", "Storage"]),
    module("CallDesk", ["Model", "Logging", "Crypto", "Calls", "KeyLog", "Storage", "KeyDirectory"]),
    module(
      "Client",
      [
        "Model", "Polling", "Wire", "Crypto", "ICE", "Containers", "Media", "Negotiation", "Signalling",
        "Transport", "Engine", "AccessTokens", "HTTPClient", "WebSocketClient", "Recording",
      ]),
    module(
      "Operator",
      [
        "Model", "Polling", "Crypto", "AccessTokens", "HTTPClient", "Configuration", "Recording", "Engine",
        "Signalling", "WebSocketClient", "Client",
      ]),
    module(
      "Rooms",
      [
        "Model", "Logging", "Wire", "Crypto", "ICE", "AccessTokens", "Negotiation", "Peer", "Engine",
        "Storage", "Recording",
      ]),
    .target(
      name: "Gateway",
      dependencies: [
        "Model", "Logging", "Crypto", "ICE", "Media", "Transport", "Peer", "Engine", "HTTPServer",
        "HTTPClient", "Storage", "AccessTokens", "Calls", "KeyLog", "KeyDirectory", "CallDesk", "Push",
        "Signalling",
        "Recording", "Rooms",
      ],
      // Every file of the folder.
      resources: [.embedInCode("REST/openapi.json"), .embedInCode("Pages")],
      swiftSettings: strict),
    module(
      "SyntheticPeers",
      ["Model", "Wire", "Crypto", "ICE", "Congestion", "Negotiation", "Transport", "CSRTP"]),
    // Takes a thread's Swift jobs, so that actors run in a simulation as it has them.
    .target(name: "CJobs"),
    module(
      "Simulation",
      [
        "Model", "Logging", "Wire", "Crypto", "ICE", "Media", "Negotiation", "Transport", "Peer", "Engine",
        "HTTPServer", "Storage", "AccessTokens", "Calls", "KeyDirectory", "CallDesk", "Signalling", "Rooms",
        "Gateway",
        "SyntheticPeers", "CJobs",
      ]),
    module(
      "Load",
      [
        "Model", "Polling", "Wire", "Crypto", "Codecs", "ICE", "Engine", "HTTPClient", "WebSocketClient",
        "AccessTokens", "Signalling", "SyntheticPeers", "Client",
      ]),

    // Every parser as a function that fuzzing and FuzzTests call; may name any module above.
    .target(
      name: "FuzzTargets",
      dependencies: [
        "Model", "Logging", "Wire", "Crypto", "Codecs", "ICE", "Congestion", "Containers", "Media",
        "Negotiation", "Transport", "Peer", "Engine",
        "HTTPServer", "HTTPClient", "Push", "AccessTokens", "Client", "Operator", "Signalling", "Rooms",
        "Storage", "Calls", "KeyLog", "KeyDirectory", "CallDesk", "Gateway", "SyntheticPeers", "Simulation",
      ],
      path: "Fuzz/FuzzTargets",
      swiftSettings: strict),
    // What messages, requests and reports cost, counted by callgrind.
    .target(name: "CCallgrind", path: "Fuzz/CCallgrind", cSettings: [.treatAllWarnings(as: .error)]),
    .executableTarget(
      name: "roost-cost", dependencies: ["FuzzTargets", "CCallgrind"], path: "Fuzz/roost-cost",
      swiftSettings: strict),

    .executableTarget(
      name: "roost",
      dependencies: [
        "Model", "Logging", "Polling", "Crypto", "ICE", "Negotiation", "Configuration", "Engine",
        "AccessTokens", "Operator", "Rooms", "Recording", "HTTPServer", "HTTPClient", "Storage", "Calls",
        "CallDesk",
        "KeyDirectory", "Push", "Gateway",
      ],
      swiftSettings: strict),
    .executableTarget(name: "roost-load", dependencies: ["Load"], swiftSettings: strict),
    // Replaces gettimeofday() in whatever it is linked into, which is the simulation alone.
    .target(name: "CSimulation", dependencies: ["COpenSSL"]),
    .executableTarget(
      name: "roost-simulate", dependencies: ["Model", "Simulation", "SyntheticPeers", "CSimulation"],
      swiftSettings: strict),
    .executableTarget(
      name: "roost-link", dependencies: ["Model", "Simulation", "CSystem"], swiftSettings: strict),

    // The benchmark, the plain C loop that it is measured against, and what counts allocations and retains.
    .target(
      name: "CCounters", path: "Bench/CCounters", cSettings: [.treatAllWarnings(as: .error)]),
    .target(
      name: "CFloor", dependencies: ["COpenSSL", "CSRTP"], path: "Bench/CFloor",
      cSettings: [.treatAllWarnings(as: .error)]),
    .executableTarget(
      name: "roost-bench",
      dependencies: [
        "Model", "Crypto", "ICE", "Transport", "Peer", "Engine", "Load", "CSRTP", "CFloor", "CCounters",
      ],
      path: "Bench/roost-bench", swiftSettings: strict),

    // Runs a script of this repository, and reads captures.
    .target(name: "TestScripts", path: "Tests/TestScripts", swiftSettings: strict),
    // Databases of the tests' own.
    .target(
      name: "TestStores", dependencies: ["Storage"], path: "Tests/TestStores", swiftSettings: strict),
    // Judges proofs and signatures by other means than those that make them.
    .target(
      name: "TestProofs", dependencies: ["KeyLog", "COpenSSL"], path: "Tests/TestProofs",
      swiftSettings: strict),
    tests("Fuzz", ["Wire", "HTTPServer", "Signalling", "Gateway", "FuzzTargets"]),
    tests("Model", ["Model"]),
    tests("Logging", ["Logging"]),
    tests("Polling", ["Model", "Polling", "CSystem"]),
    tests("Wire", ["Model", "Wire"]),
    tests("Crypto", ["Model", "Crypto", "COpenSSL", "CSRTP", "TestProofs"]),
    tests("Codecs", ["Codecs"]),
    tests("Calls", ["Calls", "Model"]),
    tests(
      "CallDesk",
      [
        "CallDesk", "Calls", "Model", "Logging", "Crypto", "KeyLog", "KeyDirectory", "Storage", "TestStores",
      ]),
    tests("KeyLog", ["KeyLog", "TestProofs"]),
    tests("ICE", ["Model", "Wire", "Crypto", "ICE", "Simulation"]),
    tests("Congestion", ["Model", "Wire", "Congestion"]),
    tests("AccessTokens", ["Model", "Crypto", "AccessTokens"]),
    tests("Containers", ["Model", "Wire", "Containers", "TestScripts"]),
    tests("Media", ["Model", "Wire", "Congestion", "Media"]),
    tests(
      "Recording",
      ["Model", "Logging", "Wire", "Containers", "Media", "Engine", "Recording", "TestScripts"]),
    tests("Negotiation", ["Model", "Wire", "Negotiation"]),
    tests("Signalling", ["Model", "AccessTokens", "Signalling", "TestScripts"]),
    tests("Transport", ["Model", "Wire", "Crypto", "ICE", "Transport"]),
    tests(
      "Peer", ["CSystem", "Model", "Wire", "Crypto", "ICE", "Congestion", "Media", "Transport", "Peer"]),
    tests(
      "Engine",
      [
        "Model", "Polling", "Wire", "Crypto", "ICE", "Congestion", "Media", "Negotiation", "Transport",
        "Peer", "Engine",
        "CSystem",
        "Simulation", "SyntheticPeers", "TestScripts",
      ]),
    tests("HTTPServer", ["Model", "Crypto", "HTTPServer", "COpenSSL"]),
    tests("WebSocketClient", ["Model", "Crypto", "HTTPServer", "WebSocketClient"]),
    tests("HTTPClient", ["Model", "Crypto", "HTTPServer", "HTTPClient"]),
    tests(
      "Push",
      ["Model", "Logging", "Crypto", "AccessTokens", "HTTPServer", "HTTPClient", "Push", "TestScripts"]),
    tests("Configuration", ["Model", "Configuration"]),
    tests("Storage", ["Model", "Logging", "Storage", "TestStores"]),
    tests(
      "KeyDirectory",
      [
        "Model", "Logging", "Crypto", "KeyLog", "Storage", "KeyDirectory", "TestStores", "TestProofs",
        "TestScripts",
      ]),
    tests(
      "Client", ["Model", "Polling", "Wire", "Containers", "Media", "HTTPServer", "HTTPClient", "Client"]),
    tests(
      "Operator",
      [
        "Model", "AccessTokens", "HTTPServer", "HTTPClient", "WebSocketClient", "Configuration", "Signalling",
        "Recording", "Client", "Operator",
      ]),
    tests(
      "Rooms",
      [
        "Model", "Logging", "Wire", "Crypto", "ICE", "Negotiation", "Transport", "Peer", "Engine",
        "AccessTokens", "Storage", "Recording", "Rooms", "TestStores",
      ]),
    tests(
      "Gateway",
      [
        "Model", "Logging", "Wire", "Crypto", "ICE", "Media", "Negotiation", "Transport", "Peer", "Engine",
        "HTTPServer", "Storage",
        "AccessTokens", "Calls", "KeyLog", "KeyDirectory", "CallDesk", "Push", "TestProofs", "Signalling",
        "Recording", "Rooms",
        "Gateway", "Simulation", "SyntheticPeers", "TestScripts", "TestStores", "HTTPClient",
      ]),
    tests("SyntheticPeers", ["Model", "Wire", "Crypto", "Negotiation", "SyntheticPeers"]),
    tests(
      "Simulation",
      [
        "Model", "Wire", "Crypto", "ICE", "Media", "Negotiation", "Transport", "Peer", "Engine",
        "AccessTokens", "Signalling", "Rooms",
        "Gateway",
        "Simulation", "SyntheticPeers", "CSimulation",
      ]),
    tests(
      "Load", ["Model", "Codecs", "AccessTokens", "Signalling", "HTTPClient", "SyntheticPeers", "Load"]),
    // Run apart: it measures memory.
    tests("Attack", ["CSystem", "Model", "Wire", "Crypto", "ICE", "Peer", "Simulation", "SyntheticPeers"]),
  ],
  swiftLanguageModes: [.v6]
)

// Link only under libFuzzer, with the flags that `scripts/fuzz` and `scripts/costs` give to every target.
if Context.environment["ROOST_FUZZ"] == "1" {
  package.targets += [
    .executableTarget(
      name: "roost-fuzz", dependencies: ["FuzzTargets"], path: "Fuzz/roost-fuzz", swiftSettings: strict),
    .target(name: "CCostCounters", path: "Fuzz/CCostCounters", cSettings: [.treatAllWarnings(as: .error)]),
    .executableTarget(
      name: "roost-cost-search", dependencies: ["FuzzTargets", "CCostCounters"],
      path: "Fuzz/roost-cost-search",
      swiftSettings: strict),
  ]
}
