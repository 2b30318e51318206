import { describe, expect, test } from 'vitest'
import type { UpstreamExchange, UpstreamSink } from '../../upstream/upstream.ts'
import { UpstreamReader } from './upstream-reader.ts'

const KIB = 1_024
const SINK: UpstreamSink = {
  head: () => undefined,
  data: () => undefined,
  end: () => undefined,
  fail: () => undefined,
}

/** A reader, what it did to its upstream (`p`ause, `r`esume, `a`bort), and the turns it gave. */
function reading(sent = true): {
  readonly reader: UpstreamReader
  readonly did: () => string
  readonly nextTurn: () => void
} {
  let did = ''
  const turns: (() => void)[] = []
  const upstream: UpstreamExchange = {
    sent,
    pause: () => (did += 'p'),
    resume: () => (did += 'r'),
    abort: () => (did += 'a'),
  }
  const reader = new UpstreamReader({ send: () => upstream, nextTurn: (go) => turns.push(go) })
  return { reader, did: () => did, nextTurn: () => turns.splice(0).forEach((go) => go()) }
}

interface Row {
  readonly name: string
  /** `64` KiB that came, `hold`, `read-on`, `turn`. */
  readonly play: string
  readonly did: string
  readonly unhindered: boolean
}

const ROWS: readonly Row[] = [
  { name: 'little is read in one turn', play: '64', did: '', unhindered: true },
  { name: 'after 128 KiB others have a turn', play: '64 64', did: 'p', unhindered: true },
  { name: 'then it is read on', play: '64 64 turn', did: 'pr', unhindered: true },
  { name: 'each turn is counted anew', play: '128 turn 64 64 turn', did: 'prpr', unhindered: true },
  { name: 'a client that is slow holds it', play: '64 hold', did: 'p', unhindered: false },
  { name: 'a turn does not wake what is held', play: 'hold 128 turn', did: 'pp', unhindered: false },
  {
    name: 'one that caught up lets it go on',
    play: 'hold 128 turn read-on',
    did: 'ppr',
    unhindered: false,
  },
]

describe('an upstream that is read', () => {
  test.each(ROWS)('$name', ({ play, did, unhindered }) => {
    const stage = reading()
    stage.reader.send(SINK)
    for (const step of play.split(' ')) {
      if (step === 'hold') stage.reader.hold()
      else if (step === 'read-on') stage.reader.readOn()
      else if (step === 'turn') stage.nextTurn()
      else stage.reader.count(new Uint8Array(Number(step) * KIB))
    }
    expect(stage.did()).toBe(did)
    expect(stage.reader.unhindered).toBe(unhindered)
  })

  test('counts the bytes of its answer', () => {
    const { reader } = reading()
    for (const bytes of [3, 5]) reader.count(new Uint8Array(bytes))
    expect(reader.bytes).toBe(8)
  })

  test('was asked only once it is sent, and says whether that reached it', () => {
    const { reader } = reading()
    expect(reader.sent).toBe(false)
    reader.send(SINK)
    expect(reader.sent).toBe(true)
    const unsent = reading(false).reader
    unsent.send(SINK)
    expect(unsent.sent).toBe(false)
  })

  test('one that was never asked can be let go', () => {
    const { reader, did } = reading()
    reader.abort()
    expect(did()).toBe('')
    reader.send(SINK)
    reader.abort()
    expect(did()).toBe('a')
  })
})
