"""What is in the files of a recording, as ffmpeg finds it."""

import json
import pathlib
import re
import subprocess


def manifest(folder):
    """The manifest of the only recording in a server's directory, and its folder."""
    found = list((pathlib.Path(folder) / "recordings").iterdir())
    assert len(found) == 1, found
    return json.loads((found[0] / "manifest.json").read_text()), found[0]


def files(made, folder, kind):
    """Of the first track of a kind: (path, start in seconds)."""
    track = next(track for track in made["tracks"] if track["kind"] == kind and track["files"])
    return [(folder / file["name"], file["start"]) for file in track["files"]]


def run(*arguments, **more):
    return subprocess.run(arguments, capture_output=True, timeout=120, **more)


def together(sound, picture, out):
    """As docs/recording.md says: both in one file, each where it begins."""
    done = run("ffmpeg", "-v", "error", "-y", "-itsoffset", str(sound[1]), "-i", sound[0],
               "-itsoffset", str(picture[1]), "-i", picture[0], "-map", "0:a", "-map", "1:v", "-c", "copy", out)
    assert done.returncode == 0, done.stderr.decode()
    return out


def flashes(path):
    """When bright pictures begin, in seconds, and how many pictures there are."""
    done = run("ffmpeg", "-v", "info", "-nostats", "-copyts", "-i", path, "-map", "0:v",
               "-vf", "scale=2:2,format=gray,showinfo", "-f", "null", "-", text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    shown = [(float(time), int(mean)) for time, mean in re.findall(r"pts_time:(-?[\d.]+).*? mean:\[(\d+)", done.stderr)]
    found, was_bright = [], True
    for time, mean in shown:
        if mean > 140 and not was_bright:
            found.append(time)
        was_bright = mean > 140
    return found, len(shown)


def beeps(path):
    """When sound begins, in seconds."""
    rate = 8_000
    done = run("ffmpeg", "-v", "error", "-copyts", "-i", path, "-map", "0:a", "-af", "aresample=async=1:first_pts=0",
               "-ac", "1", "-ar", str(rate), "-f", "s16le", "-")
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    samples = memoryview(done.stdout[:len(done.stdout) // 2 * 2]).cast("h")
    found, quiet, step = [], 0, rate // 1_000
    for at in range(0, len(samples) - step, step):
        if max(map(abs, samples[at:at + step])) > 3_000:
            if quiet > 300:
                found.append(at / rate)
            quiet = 0
        else:
            quiet += 1
    return found


def apart(flashes, beeps):
    """(when, seconds between a flash and the beep that is next to it), for each flash that has one."""
    pairs = []
    for flash in flashes:
        nearest = min(beeps, key=lambda beep: abs(beep - flash), default=None)
        if nearest is not None and abs(nearest - flash) < 0.4:
            pairs.append((flash, nearest - flash))
    return pairs
