/** The answer's way to its client: what is held, what flows, what waits at the end, and how a break is told. */
import { describe, expect, test } from 'vitest'
import type { StreamStep, WholeEnd } from '../lanes/lane.ts'
import type { Answer } from './answer.ts'
import { Delivery } from './delivery.ts'

const HOLD_BYTES = 10
const LONG = 'x'.repeat(262_145)

/** Plays steps for an answer and writes down what its client reads and what the exchange is told, in order. */
class Stage {
  seen = ''
  keepsUp = true
  now = 0
  readonly upstream = {
    held: false,
    hold: () => {
      this.upstream.held = true
      this.seen += '{hold}'
    },
    resume: () => {
      this.upstream.held = false
      this.seen += '{read-on}'
    },
  }
  passing: 'hold' | 'pass' = 'hold'
  readonly errors: unknown[] = []
  #onDrain: (() => void) | undefined
  readonly delivery: Delivery

  constructor(
    form: Answer['form'],
    breaks: 'nothing' | 'failure' | 'start' | 'headers' | 'write' = 'nothing',
  ) {
    const say = (word: string): void => {
      this.seen += word
    }
    this.delivery = new Delivery(
      {
        now: () => this.now,
        requestId: 'r',
        onCommit: () => say('{first}'),
        onError: (error) => this.errors.push(error),
        addHeaders: (headers) => {
          if (breaks === 'headers') throw new Error('planted')
          headers['gw-request-id'] = 'r'
        },
        reply: {
          started: false,
          gone: false,
          setModel: () => undefined,
          start: ({ status, headers, contentLength }) => {
            if (breaks === 'start') throw new Error('no header may hold this')
            say(`${status}:${headers['content-type'] ?? '-'}:${headers['cache-control'] ?? '-'}`)
            say(`:${headers['gw-request-id'] ?? '-'}:${contentLength ?? '-'} `)
          },
          write: (chunk) => {
            if (breaks === 'write') throw new Error('planted')
            say(chunk.length > 1_000 ? `(${chunk.length})` : String(chunk))
            return this.keepsUp
          },
          onDrain: (listener) => {
            this.#onDrain = listener
          },
          onGone: () => undefined,
          end: () => say('.'),
          fail: () => say('fail'),
          destroy: () => say('|'),
        },
      },
      this.upstream,
      {
        onBegin: () => {
          if (this.passing === 'hold') say('{begin}')
          this.passing = 'pass'
        },
        onErrorDelivered: () => say('{told}'),
        onBroken: ({ kind }) => say(`{broken ${kind}}`),
        onComplete: (upstream) => {
          say(`{complete, ${upstream}}`)
          this.delivery.close()
        },
      },
    )
    const answer: Answer = {
      form,
      contentType: form === 'stream' ? 'text/event-stream' : undefined,
      holdBytes: HOLD_BYTES,
      lane: { kept: unused, meter: { read: unused, glance: unused, reportedOutput: undefined } },
      keepAliveBytes: 0,
      push: unused,
      end: unused,
      endDrained: unused,
      forget: unused,
      keepAlive: () => (form === 'stream' ? '~' : undefined),
      failure: ({ code }) => {
        if (breaks === 'failure') throw new Error('an encoder broke')
        return form === 'stream' ? `<${code}>` : undefined
      },
    }
    this.delivery.open(answer, 200)
  }

  play(step: string): void {
    const [verb = '', text = ''] = step.split(' ')
    const output = text === '' ? [] : [text]
    const { delivery, passing } = this
    const steps: Readonly<Record<string, () => void>> = {
      prelude: () => delivery.take({ ...FLOWING, output }, passing),
      text: () => delivery.take({ ...FLOWING, output, meaningful: true }, passing),
      long: () => delivery.take({ ...FLOWING, output: [LONG], stage: 'finishing' }, passing),
      finishing: () => delivery.take({ ...FLOWING, output, stage: 'finishing' }, passing),
      whole: () => delivery.take({ ...FLOWING, output, meaningful: true, stage: 'finishing' }, passing),
      last: () => delivery.take({ ...FLOWING, output, stage: 'finished' }, passing),
      enough: () => delivery.take({ ...FLOWING, output, stage: 'enough' }, passing),
      cut: () => delivery.take({ ...FLOWING, output, failure: { kind: 'cut' } }, passing),
      error: () => delivery.take({ ...FLOWING, output, failure: ERROR }, passing),
      unheard: () => delivery.take({ ...FLOWING, output, failure: { ...ERROR, delivered: false } }, passing),
      end: () => delivery.takeEnd({ output, failure: undefined }, passing),
      'end-cut': () => delivery.takeEnd({ output, failure: { kind: 'cut' } }, passing),
      'end-error': () => delivery.takeEnd({ output, failure: ERROR }, passing),
      release: () => delivery.release(),
      pulse: () => delivery.pulse(),
      drop: () => delivery.drop(),
      'break-off': () => delivery.breakOff({ code: 50201, message: 'the upstream broke off its answer' }),
      'end-told': () => delivery.endAsTold(),
      slow: () => {
        this.keepsUp = false
      },
      drain: () => {
        this.keepsUp = true
        this.#onDrain?.()
      },
      'keep-alive': () => {
        this.now += Number(text)
        delivery.keepAlive(this.now)
      },
    }
    const act = steps[verb]
    if (act === undefined) throw new Error(`no such step: ${step}`)
    act()
  }
}

const FLOWING: StreamStep = { output: [], meaningful: false, stage: 'flowing', failure: undefined }
const ERROR = {
  kind: 'error',
  status: 529,
  raw: null,
  delivered: true,
} as const satisfies WholeEnd['failure']
const HEAD = '200:text/event-stream:no-cache:r:- {first}'

function unused(): never {
  throw new Error('delivery does not ask for this')
}

interface Row {
  readonly name: string
  readonly form?: Answer['form']
  readonly play: string
  readonly seen: string
}

const ROWS: readonly Row[] = [
  // Before it begins.
  { name: 'a prelude is held', play: 'prelude pp', seen: '' },
  {
    name: 'and goes with the first word',
    play: 'prelude pp, text t',
    seen: `{begin}${HEAD}ppt`,
  },
  {
    name: 'a prelude that is too long has begun',
    play: 'prelude ppppppppppp',
    seen: `{begin}${HEAD}ppppppppppp`,
  },
  { name: 'one whose beginning and end are one piece has begun', play: 'whole tf', seen: '{begin}' },
  {
    name: 'and does not wait for ever for what ends it',
    play: 'prelude pp, whole tf, pulse, pulse, pulse, pulse, pulse, pulse',
    seen: `{begin}${HEAD}pptf`,
  },
  { name: 'one that breaks while it is held shows nothing', play: 'prelude pp, cut x', seen: '{broken cut}' },
  { name: 'nor one that tells an error', play: 'prelude pp, error x', seen: '{broken error}' },
  { name: 'nor one that ends as no answer does', play: 'end-cut', seen: '{broken cut}{complete, ended}' },
  // While it flows.
  {
    name: 'a client that is slow holds the upstream, once',
    play: 'slow, text t, text t',
    seen: `{begin}${HEAD}t{hold}t`,
  },
  { name: 'and lets it go on', play: 'slow, text t, drain', seen: `{begin}${HEAD}t{hold}{read-on}` },
  { name: 'a drain that nobody waits for is none', play: 'text t, drain', seen: `{begin}${HEAD}t` },
  { name: 'silence of 15 s is filled', play: 'text t, keep-alive 15000', seen: `{begin}${HEAD}t~` },
  { name: 'a shorter one is not', play: 'text t, keep-alive 14999', seen: `{begin}${HEAD}t` },
  {
    name: 'nor is one of a client that has not read what it has',
    play: 'slow, text t, keep-alive 15000',
    seen: `{begin}${HEAD}t{hold}`,
  },
  {
    name: 'an error of the upstream’s waits for the end',
    play: 'text t, error E',
    seen: `{begin}${HEAD}t{told}`,
  },
  {
    name: 'but no longer than two seconds',
    play: 'text t, error E, pulse, pulse, pulse, text t',
    seen: `{begin}${HEAD}t{told}Et`,
  },
  {
    name: 'what follows it does not overtake it',
    play: 'text t, error E, text u, end-told, release',
    seen: `{begin}${HEAD}t{told}Eu.`,
  },
  {
    name: 'one that the client has not been told is broken',
    play: 'text t, unheard E, break-off, release',
    seen: `{begin}${HEAD}t{broken error}E<50201>.`,
  },
  // Its end.
  {
    name: 'the end waits until it is released',
    play: 'text t, finishing f, last $',
    seen: `{begin}${HEAD}t{complete, may close}`,
  },
  {
    name: 'and comes then',
    play: 'text t, finishing f, last $, release',
    seen: `{begin}${HEAD}t{complete, may close}f$.`,
  },
  { name: 'once', play: 'text t, end $, release, release', seen: `{begin}${HEAD}t{complete, ended}$.` },
  {
    name: 'at a stop sequence the upstream would go on',
    play: 'text t, enough !, release',
    seen: `{begin}${HEAD}t{complete, would go on}!.`,
  },
  { name: 'an end that is too long flows', play: 'text t, long', seen: `{begin}${HEAD}t(262145)` },
  {
    name: 'and begins an answer that has not',
    play: 'prelude pp, long',
    seen: `${HEAD}pp(262145){begin}`,
  },
  {
    name: 'an end that no last word follows goes after two seconds',
    play: 'text t, finishing f, pulse, pulse, pulse',
    seen: `{begin}${HEAD}tf`,
  },
  {
    name: 'and so does one that is not released',
    play: 'text t, last $, pulse, pulse, pulse, release',
    seen: `{begin}${HEAD}t{complete, may close}$.`,
  },
  {
    name: 'a document goes with its length',
    form: 'whole',
    play: 'prelude {"a":, end 1}, release',
    seen: '{complete, ended}200:application/json:-:r:7 {first}{"a":1}.',
  },
  {
    name: 'one that tells an error after it began keeps its own words',
    form: 'whole',
    play: 'prelude {"aaaaaaaaa":, end-error 1}, release',
    seen: '{begin}200:application/json:-:r:- {first}{"aaaaaaaaa":{complete, ended}1}.',
  },
  // How a break is told.
  { name: 'a break waits until it is released', play: 'text t, break-off', seen: `{begin}${HEAD}t` },
  {
    name: 'and no longer than two seconds',
    play: 'text t, break-off, pulse, pulse, pulse',
    seen: `{begin}${HEAD}t<50201>.`,
  },
  {
    name: 'a break is told in the stream',
    play: 'text t, break-off, release',
    seen: `{begin}${HEAD}t<50201>.`,
  },
  {
    name: 'after what waited for the end',
    play: 'text t, finishing f, break-off, release',
    seen: `{begin}${HEAD}tf<50201>.`,
  },
  {
    name: 'a document is broken off',
    form: 'whole',
    play: 'prelude {"aaaaaaaaa":, break-off, release',
    seen: '{begin}200:application/json:-:r:- {first}{"aaaaaaaaa":|',
  },
  {
    name: 'what the upstream has told ends as it is',
    play: 'text t, error E, end-told, release',
    seen: `{begin}${HEAD}t{told}E.`,
  },
  {
    name: 'for a client that has gone nothing waits',
    play: 'prelude pp, drop, pulse, pulse, pulse, release',
    seen: '',
  },
]

describe('an answer on its way', () => {
  test.each(ROWS)('$name', ({ form = 'stream', play, seen }) => {
    const stage = new Stage(form)
    for (const step of play.split(', ')) stage.play(step)
    expect(stage.seen).toBe(seen)
  })

  test('a failure that cannot be put into words breaks the connection', () => {
    const stage = new Stage('stream', 'failure')
    for (const step of ['text t', 'break-off', 'release']) stage.play(step)
    expect(stage.seen).toBe(`{begin}${HEAD}t|`)
    expect(stage.errors).toHaveLength(1)
  })

  test.each(['headers', 'start', 'write'] as const)(
    'an answer that breaks at its release, in its %s, breaks the connection',
    (breaks) => {
      const stage = new Stage('whole', breaks)
      for (const step of ['prelude {"a":', 'end 1}']) stage.play(step)
      expect(() => stage.play('release')).toThrow()
      expect(stage.seen.endsWith('|')).toBe(true)
    },
  )

  test.each<[Answer['form'], play: string, last: string, seen: string]>([
    ['whole', 'prelude {"a":, end 1}', 'release', '{complete, ended}|'],
    ['stream', 'prelude pp', 'text t', '{begin}|'],
  ])('a head that cannot be sent breaks the connection: %s', (form, play, last, seen) => {
    const stage = new Stage(form, 'start')
    for (const step of play.split(', ')) stage.play(step)
    expect(() => stage.play(last)).toThrow('no header may hold this')
    expect(stage.seen).toBe(seen)
  })
})
