/** The exchange as a machine: what happens to one attempt, in every order that matters, and what comes of it. */
import { describe, expect, test } from 'vitest'
import { NO_USAGE } from '../../core/canonical/usage.ts'
import type { ExtrasWatch } from '../../core/passthrough/extras-watch.ts'
import type { MeterReading } from '../../core/metering/meter.ts'
import { ManualTimers } from '../../upstream/testing/manual-timers.ts'
import type { UpstreamExchange, UpstreamSink } from '../../upstream/upstream.ts'
import { Exchange } from './exchange.ts'
import type { REACTIONS } from './exchange-states.ts'
import type { Ended, Verdict } from './exchange-outcome.ts'
import type { Lane, LaneMeter, StreamLane, StreamStep, WholeEnd, WholeLane } from '../lanes/lane.ts'
import { createPulse } from '../instance/pulse.ts'
import type { ClientReply, ReplyHead } from '../reply.ts'

/**
 * A language of one letter an event, so that a test reads like what happens: `p` prelude, `t` visible text (one token),
 * `u` usage that covers all so far and ten hidden tokens more, `f` finish, `$` last word, `!` stop sequence, `E` an error
 * the upstream tells itself, `X` bytes that make no sense, `#` a fault of our own.
 */
class Words {
  told: number | undefined
  seen = 0
  finishing = false
  forgotten = false
  broken = false

  reading(): MeterReading {
    if (this.broken) throw new Error('the counter is broken')
    return {
      usage: { ...NO_USAGE, input: 7, output: (this.told ?? 0) + this.seen },
      source: this.seen > 0 || this.told === undefined ? 'estimated' : 'upstream',
      produced: this.seen > 0 || this.told !== undefined,
      images: 0,
    }
  }

  take(letter: string): void {
    if (letter === 't') this.seen += 1
    if (letter === 'u') {
      this.told = (this.told ?? 0) + this.seen + 10
      this.seen = 0
    }
    if (letter === 'f') this.finishing = true
    if (letter === '#') throw new Error('a codec broke')
  }
}

class FakeStream implements StreamLane {
  readonly contentType = 'text/event-stream'
  readonly keepAliveBytes = 0
  readonly #words: Words

  constructor(words: Words) {
    this.#words = words
  }

  push(chunk: Uint8Array): StreamStep {
    const text = Buffer.from(chunk).toString()
    const words = this.#words
    for (const letter of text) words.take(letter)
    const said = text.includes('E') || text.includes('X')
    return {
      output: text.includes('X') ? [] : [text],
      meaningful: words.reading().produced,
      stage: text.includes('$')
        ? 'finished'
        : text.includes('!')
          ? 'enough'
          : words.finishing
            ? 'finishing'
            : 'flowing',
      failure: !said
        ? undefined
        : text.includes('X')
          ? { kind: 'cut' }
          : { kind: 'error', status: 529, raw: null, delivered: true },
    }
  }

  end(): StreamStep {
    const cut = !this.#words.finishing
    return { output: [], meaningful: true, stage: 'finished', failure: cut ? { kind: 'cut' } : undefined }
  }

  keepAlive(): string {
    return '~'
  }

  failure({ code }: { readonly code: string }): string {
    return `<${code}>`
  }

  kept(): undefined {
    return undefined
  }

  get meter(): LaneMeter {
    const words = this.#words
    return {
      read: () => words.reading(),
      glance: () => ({ ...words.reading(), source: 'estimated' }),
      reportedOutput: words.told,
    }
  }
}

class FakeWhole implements WholeLane {
  readonly #words: Words
  readonly #far: Promise<WholeEnd> | undefined

  constructor(words: Words, far?: Promise<WholeEnd>) {
    this.#words = words
    this.#far = far
  }

  endFar(): Promise<WholeEnd> | undefined {
    return this.#far
  }

  push(chunk: Uint8Array): readonly string[] {
    const text = Buffer.from(chunk).toString()
    for (const letter of text) this.#words.take(letter)
    return [text]
  }

  end(): ReturnType<WholeLane['end']> {
    return { output: [], failure: this.#words.finishing ? undefined : { kind: 'cut' } }
  }

  forget(): void {
    this.#words.forgotten = true
  }

  kept(): undefined {
    return undefined
  }

  get meter(): LaneMeter {
    const words = this.#words
    return { read: () => words.reading(), glance: () => words.reading(), reportedOutput: words.told }
  }
}

class FakeReply implements ClientReply {
  started = false
  gone = false
  full = false
  wrote = ''
  #onGone: (() => void) | undefined
  #onDrain: (() => void) | undefined

  setModel(): void {
    return undefined
  }

  start(head: ReplyHead): void {
    this.started = true
    this.wrote += `${head.status}${head.contentLength === undefined ? '' : `/${head.contentLength}`} `
  }

  write(chunk: Uint8Array | string): boolean {
    this.wrote += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()
    return !this.full
  }

  onDrain(listener: (() => void) | undefined): void {
    this.#onDrain = listener
  }

  onGone(listener: (() => void) | undefined): void {
    this.#onGone = listener
  }

  end(): void {
    this.wrote += '.'
  }

  fail(): void {
    this.wrote += 'fail'
  }

  destroy(): void {
    this.wrote += '|'
  }

  drain(): void {
    this.full = false
    this.#onDrain?.()
  }

  leave(): void {
    this.gone = true
    this.#onGone?.()
  }
}

class FakeUpstream implements UpstreamExchange {
  sent = false
  paused = false
  aborted = false
  readonly sink: UpstreamSink
  #over = false

  constructor(sink: UpstreamSink) {
    this.sink = sink
  }

  pause(): void {
    this.paused = true
  }

  resume(): void {
    this.paused = false
  }

  abort(): void {
    if (this.#over) return
    this.#over = true
    this.aborted = true
    this.sink.fail({ kind: 'aborted', sent: this.sent, detail: 'aborted by the gateway' })
  }

  end(): void {
    this.#over = true
    this.sink.end()
  }

  fail(kind: 'reset' | 'idle-timeout' | 'first-byte-timeout'): void {
    this.#over = true
    this.sink.fail({ kind, sent: this.sent, detail: 'UND_ERR_SOCKET: other side closed' })
  }
}

const GRACE_MS = 3_000
const LINGER_MS = 1_000

interface Told {
  readonly verdict: Verdict | undefined
  readonly ended: Ended | undefined
}

interface StageOptions {
  readonly stream: boolean
  readonly graceMs: number
  readonly before: string
  readonly far?: boolean
}

class Stage {
  readonly words = new Words()
  readonly reply = new FakeReply()
  readonly timers = new ManualTimers()
  readonly pulse = createPulse(() => this.timers.now())
  readonly progress: MeterReading[] = []
  readonly errors: unknown[] = []
  leftReading: MeterReading | undefined
  drainEnds = 0
  extrasBreak = false
  told: Told = { verdict: undefined, ended: undefined }
  upstream: FakeUpstream | undefined
  /** What a thread makes of a whole answer; undefined: it is taken apart where it is. */
  readonly far: Promise<WholeEnd> | undefined
  converted: (end: WholeEnd) => void = () => undefined
  readonly exchange: Exchange

  constructor({ stream, graceMs, before, far }: StageOptions) {
    if (far)
      this.far = new Promise((resolve) => {
        this.converted = resolve
      })
    this.pulse.stop()
    if (before.includes('gone')) this.reply.gone = true
    if (before.includes('stopping')) this.pulse.stopAll()
    this.exchange = this.#exchange({ stream, graceMs })
    const keep = (told: Partial<Told>): void => {
      this.told = { ...this.told, ...told }
    }
    const fail = (error: unknown): void => {
      this.errors.push(error)
    }
    this.exchange.verdict.then((verdict) => keep({ verdict }), fail)
    this.exchange.ended.then((ended) => keep({ ended }), fail)
  }

  #exchange({ stream, graceMs }: { stream: boolean; graceMs: number }): Exchange {
    const { words } = this
    const lane: Lane = {
      body: [],
      bodyLength: 0,
      dropped: [],
      inputEstimated: () => false,
      openStream: () => new FakeStream(words),
      openWhole: () => new FakeWhole(words, this.far),
    }
    return new Exchange({
      send: (sink) => {
        this.upstream = new FakeUpstream(sink)
        return this.upstream
      },
      extras: this.#extras(),
      tierHeader: undefined,
      requestId: 'r',
      lane,
      stream,
      reply: this.reply,
      addHeaders: () => undefined,
      pulse: this.pulse,
      timers: this.timers,
      now: () => this.timers.now(),
      graceMs: () => graceMs,
      onDrainEnd: () => {
        this.drainEnds += 1
      },
      onProgress: (reading) => this.progress.push(reading),
      onCommit: () => undefined,
      onClientGone: (reading) => {
        this.leftReading = reading
      },
      onError: (error) => this.errors.push(error),
    })
  }

  #extras(): ExtrasWatch {
    return {
      begin: () => undefined,
      noteField: () => undefined,
      push: () => {
        if (this.extrasBreak) throw new Error('what stands beside the lane broke')
      },
      read: () => ({ counted: new Map(), seen: new Map(), listed: [], fields: new Map() }),
    }
  }

  play(step: string): void {
    const [verb = '', what = ''] = step.split(' ')
    const { upstream, exchange } = this
    switch (verb) {
      case 'sent':
        if (upstream !== undefined) upstream.sent = true
        return
      case 'head':
        upstream?.sink.head({
          status: Number(what),
          headers: { 'content-type': step.endsWith('json') ? 'application/json' : 'text/event-stream' },
        })
        return
      case 'data':
        upstream?.sink.data(Buffer.from(what))
        return
      case 'end':
        upstream?.end()
        return
      case 'reset':
      case 'idle-timeout':
      case 'first-byte-timeout':
        upstream?.fail(verb)
        return
      case 'gone':
        this.reply.leave()
        return
      case 'stop':
        this.pulse.stopAll()
        return
      case 'deadline':
        exchange.expire()
        return
      case 'full':
        this.reply.full = true
        return
      case 'drain':
        this.reply.drain()
        return
      case 'pulse':
        this.pulse.beat(this.timers.now())
        return
      case 'wait':
        this.timers.advance(Number(what))
        return
      case 'converted':
        this.converted({ output: ['whole'], failure: undefined })
        return
      case 'fault':
        // Whatever stands beside the lane is asked first, in every state.
        this.extrasBreak = true
        upstream?.sink.data(Buffer.from('p'))
        return
      case 'counter-breaks':
        this.words.broken = true
        return
      case 'release':
        exchange.release()
        return
      default:
        throw new Error(`no such step: ${step}`)
    }
  }
}

interface Row {
  readonly name: string
  readonly play: string
  readonly whole?: true
  readonly graceMs?: number
  readonly before?: string
  readonly far?: true
  readonly verdict: string
  /** ending/generation/output tokens; absent: the exchange failed, nobody asks. */
  readonly ended?: string
  readonly wrote?: string
  readonly unreportedMs?: number
  readonly aborted?: boolean
}

async function played(row: Row): Promise<Stage> {
  const stage = new Stage({
    stream: row.whole !== true,
    graceMs: row.graceMs ?? GRACE_MS,
    before: row.before ?? '',
    far: row.far === true,
  })
  for (const step of row.play.split(', ').filter((one) => one !== '')) {
    stage.play(step)
    await Promise.resolve()
  }
  await new Promise((resolve) => setImmediate(resolve))
  return stage
}

function verdictText(verdict: Verdict | undefined): string {
  if (verdict?.kind !== 'failed') return verdict?.kind ?? 'none'
  const { failure } = verdict
  if (failure.kind === 'status')
    return `failed: status ${failure.status} ${Buffer.from(failure.body).toString()}`
  return `failed: ${failure.kind}${failure.kind === 'transport' ? ` ${failure.transport.kind}` : ''}`
}

const endedText = (ended: Ended | undefined): string =>
  ended === undefined
    ? 'none'
    : `${ended.ending}/${ended.generation}/${ended.reading?.usage.output ?? 'unread'}`

const ROWS: readonly Row[] = [
  // What a clean answer does.
  {
    name: 'a stream: nothing goes before the first meaningful event, the end waits for the charge',
    play: 'sent, head 200, data p, data t, data t, data fu, data $, end, release',
    verdict: 'committed',
    ended: 'complete/whole/12',
    wrote: '200 ptt' + 'fu$.',
  },
  {
    name: 'the end is held back until it is released',
    play: 'sent, head 200, data t, data fu$, end',
    verdict: 'committed',
    ended: 'complete/whole/11',
    wrote: '200 t',
  },
  {
    name: 'an upstream that lingers after its last word does not hold up the call, and is cut when it lingers on',
    play: `sent, head 200, data t, data fu$, release, wait ${LINGER_MS}`,
    verdict: 'committed',
    ended: 'complete/whole/11',
    wrote: '200 tfu$.',
    aborted: true,
  },
  {
    name: 'one that ends in time keeps its connection',
    play: `sent, head 200, data t, data fu$, release, end, wait ${LINGER_MS}`,
    verdict: 'committed',
    ended: 'complete/whole/11',
    aborted: false,
  },
  {
    name: 'one that came as one piece, but for its last word, is there and paid, though its upstream falls silent',
    play: 'sent, head 200, data ptuf, idle-timeout, release',
    verdict: 'committed',
    ended: 'timeout/broken/11',
    wrote: '200 ptuf<50401>.',
  },
  {
    name: 'no sign of life goes out after the last word',
    play: 'sent, head 200, data t, data fu$, wait 20000, pulse, pulse, pulse, pulse',
    verdict: 'committed',
    ended: 'complete/whole/11',
    wrote: '200 tfu$.',
  },
  {
    name: 'at a stop sequence the upstream is cut, though it would go on',
    play: 'sent, head 200, data t, data t!, release',
    verdict: 'committed',
    ended: 'complete/cut/2',
    wrote: '200 tt!.',
    aborted: true,
  },
  {
    name: 'a whole answer goes with its length, after the charge',
    whole: true,
    play: 'sent, head 200 json, data tt, data fu, end, release',
    verdict: 'committed',
    ended: 'complete/whole/12',
    wrote: '200/4 ttfu.',
  },
  // Failures before the answer: another chain may still be tried.
  {
    name: 'a refusal brings its words',
    play: 'sent, head 429, data slow, end',
    verdict: 'failed: status 429 slow',
  },
  { name: 'a reset before the head', play: 'sent, reset', verdict: 'failed: transport reset' },
  {
    name: 'a time-out before the head',
    play: 'sent, first-byte-timeout',
    verdict: 'failed: transport first-byte-timeout',
  },
  { name: 'the deadline', play: 'sent, deadline', verdict: 'failed: deadline', aborted: true },
  {
    name: 'the deadline after a prelude',
    play: 'sent, head 200, data p, deadline',
    verdict: 'failed: deadline',
    wrote: '',
    aborted: true,
  },
  {
    name: 'an error after a prelude',
    play: 'sent, head 200, data p, data E',
    verdict: 'failed: answer',
    wrote: '',
    aborted: true,
  },
  {
    name: 'an end after a prelude',
    play: 'sent, head 200, data p, end',
    verdict: 'failed: answer',
    wrote: '',
  },
  { name: 'no answer at all', play: 'sent, end', verdict: 'failed: transport protocol' },
  {
    name: 'silence before the first word',
    play: 'sent, head 200, data p, idle-timeout',
    verdict: 'failed: transport idle-timeout',
  },
  {
    name: 'a whole answer that cannot be read',
    whole: true,
    play: 'sent, head 200 json, data t, end',
    verdict: 'failed: answer',
  },
  {
    name: 'a codec that breaks before the first word is a fault of ours',
    play: 'sent, head 200, data #',
    verdict: 'broken',
    ended: 'gateway-error/none/unread',
    wrote: '',
    aborted: true,
  },
  // Failures after it began: told in the stream, in the gateway's own words.
  {
    name: 'a reset',
    play: 'sent, head 200, data t, reset, release',
    verdict: 'committed',
    ended: 'upstream-cut/broken/1',
    wrote: '200 t<50201>.',
  },
  {
    name: 'an end without a last word',
    play: 'sent, head 200, data t, end, release',
    verdict: 'committed',
    ended: 'upstream-cut/broken/1',
    wrote: '200 t<50201>.',
  },
  {
    name: 'silence',
    play: 'sent, head 200, data t, idle-timeout, release',
    verdict: 'committed',
    ended: 'timeout/broken/1',
    wrote: '200 t<50401>.',
  },
  {
    name: 'unreadable',
    play: 'sent, head 200, data t, data X, release',
    verdict: 'committed',
    ended: 'upstream-cut/broken/1',
    wrote: '200 t<50201>.',
    aborted: true,
  },
  {
    name: 'an error of the upstream’s own is passed on, and nothing is added',
    play: 'sent, head 200, data t, data E, end, release',
    verdict: 'committed',
    ended: 'upstream-error/broken/1',
    wrote: '200 tE.',
  },
  {
    name: 'neither when it resets after it',
    play: 'sent, head 200, data t, data E, reset, release',
    verdict: 'committed',
    ended: 'upstream-error/broken/1',
    wrote: '200 tE.',
  },
  {
    name: 'a codec that breaks',
    play: 'sent, head 200, data t, data #, release',
    verdict: 'committed',
    ended: 'gateway-error/cut/1',
    wrote: '200 t<50000>.',
    aborted: true,
  },
  {
    name: 'a counter that breaks at the end: the last that was noted counts',
    play: 'sent, head 200, data tt, pulse, data fu$, counter-breaks, end, release',
    verdict: 'committed',
    ended: 'complete/whole/12',
    wrote: '200 ttfu$.',
  },
  {
    name: 'a counter that breaks before the end: the last that was noted counts',
    play: 'sent, head 200, data tt, pulse, counter-breaks, reset',
    verdict: 'committed',
    ended: 'gateway-error/broken/2',
  },
  {
    name: 'the deadline does not cut an answer that has begun',
    play: 'sent, head 200, data t, deadline, data fu$, end, release',
    verdict: 'committed',
    ended: 'complete/whole/11',
  },
  // Clients that leave.
  {
    name: 'left before the call began: nothing is asked',
    before: 'gone',
    play: '',
    verdict: 'gone',
    ended: 'client-gone/none/unread',
  },
  {
    name: 'left before the request was sent: nothing was made',
    play: 'gone',
    verdict: 'gone',
    ended: 'client-gone/none/unread',
    aborted: true,
  },
  {
    name: 'left before the head, which comes with all the rest within the grace',
    play: 'sent, gone, head 200, data pt, data fu$',
    verdict: 'gone',
    ended: 'client-gone/whole/11',
    wrote: '',
  },
  {
    name: 'left before the head, which does not come: cut, and the time since the request counts',
    play: `sent, wait 500, gone, wait ${GRACE_MS}`,
    verdict: 'gone',
    ended: 'client-gone/cut/0',
    unreportedMs: 500 + GRACE_MS,
    aborted: true,
  },
  {
    name: 'left before the head, which refuses',
    play: 'sent, gone, head 500',
    verdict: 'gone',
    ended: 'client-gone/none/unread',
    aborted: true,
  },
  {
    name: 'left before the head, and the connection breaks',
    play: 'sent, gone, reset',
    verdict: 'gone',
    ended: 'client-gone/broken/unread',
  },
  {
    name: 'left while an error is read',
    play: 'sent, head 500, gone',
    verdict: 'gone',
    ended: 'client-gone/none/unread',
    aborted: true,
  },
  {
    name: 'left after a prelude',
    play: `sent, head 200, data p, gone, wait ${GRACE_MS}`,
    verdict: 'gone',
    ended: 'client-gone/cut/0',
    aborted: true,
  },
  {
    name: 'left in the middle: what comes within the grace counts, and nothing is written',
    play: 'sent, head 200, data t, gone, data ttt, data fu$, end',
    verdict: 'committed',
    ended: 'client-gone/whole/14',
    wrote: '200 t',
  },
  {
    name: 'left between the text and the usage',
    play: 'sent, head 200, data t, data f, gone, data u$',
    verdict: 'committed',
    ended: 'client-gone/whole/11',
    aborted: true,
  },
  {
    name: 'left in the middle, and the grace is over: the time since the usage was told last counts',
    play: `sent, head 200, data t, wait 100, data u, wait 200, gone, wait ${GRACE_MS}, data t`,
    verdict: 'committed',
    ended: 'client-gone/cut/11',
    unreportedMs: 200 + GRACE_MS,
    aborted: true,
  },
  {
    name: 'left with a grace of 0',
    graceMs: 0,
    play: 'sent, head 200, data t, gone, data t',
    verdict: 'committed',
    ended: 'client-gone/cut/1',
    aborted: true,
  },
  {
    name: 'left in the middle, and the vendor breaks off',
    play: 'sent, head 200, data t, gone, data t, reset',
    verdict: 'committed',
    ended: 'client-gone/broken/2',
  },
  {
    name: 'left in the middle, and the vendor tells of an error',
    play: 'sent, head 200, data t, gone, data tE',
    verdict: 'committed',
    ended: 'client-gone/broken/2',
    aborted: true,
  },
  {
    name: 'left after the upstream told its failure',
    play: 'sent, head 200, data t, data E, gone',
    verdict: 'committed',
    ended: 'client-gone/broken/1',
    aborted: true,
  },
  {
    name: 'left while a codec breaks',
    play: 'sent, head 200, data t, gone, data #',
    verdict: 'committed',
    ended: 'client-gone/cut/1',
    aborted: true,
  },
  {
    name: 'left at its last word: it is complete',
    play: 'sent, head 200, data t, data fu$, gone, end, release',
    verdict: 'committed',
    ended: 'complete/whole/11',
  },
  {
    name: 'a whole answer that was left and ends',
    whole: true,
    play: 'sent, head 200 json, data t, gone, data fu, end',
    verdict: 'gone',
    ended: 'client-gone/whole/11',
    wrote: '',
  },
  {
    name: 'one that a thread reads is charged by what it finds, however late',
    whole: true,
    far: true,
    play: `sent, head 200 json, data t, gone, data fu, end, wait ${GRACE_MS}, stop, converted`,
    verdict: 'gone',
    ended: 'client-gone/whole/11',
    wrote: '',
  },
  {
    name: 'a whole answer that was left and does not',
    whole: true,
    play: `sent, head 200 json, data t, gone, wait ${GRACE_MS}`,
    verdict: 'gone',
    ended: 'client-gone/cut/1',
    aborted: true,
  },
  {
    name: 'the deadline cuts what is read on',
    play: 'sent, gone, wait 1000, deadline',
    verdict: 'gone',
    ended: 'client-gone/cut/0',
    unreportedMs: 1_000,
    aborted: true,
  },
  // The gateway stops.
  {
    name: 'a stop before the call began',
    before: 'stopping',
    play: '',
    verdict: 'stopped',
    ended: 'stopped/none/unread',
  },
  {
    name: 'a stop before the head',
    play: 'sent, stop',
    verdict: 'stopped',
    ended: 'stopped/none/unread',
    wrote: '',
    aborted: true,
  },
  {
    name: 'a stop inside a stream',
    play: 'sent, head 200, data tt, stop, release',
    verdict: 'committed',
    ended: 'stopped/cut/2',
    wrote: '200 tt<50301>.',
    aborted: true,
  },
  {
    name: 'a stop after the upstream told its failure',
    play: 'sent, head 200, data t, data E, stop, release',
    verdict: 'committed',
    ended: 'upstream-error/broken/1',
    wrote: '200 tE.',
    aborted: true,
  },
  {
    name: 'a stop while an answer is read on',
    play: 'sent, head 200, data t, gone, stop',
    verdict: 'committed',
    ended: 'client-gone/cut/1',
    aborted: true,
  },
  {
    name: 'a stop while the end waits for its charge',
    play: 'sent, head 200, data t, data fu$, stop, release',
    verdict: 'committed',
    ended: 'complete/whole/11',
    wrote: '200 tfu$.',
  },
]

describe('one attempt', () => {
  test.each(ROWS)('$name', async (row) => {
    const stage = await played(row)
    expect(verdictText(stage.told.verdict)).toBe(row.verdict)
    if (row.ended !== undefined) expect(endedText(stage.told.ended)).toBe(row.ended)
    if (row.wrote !== undefined) expect(stage.reply.wrote).toBe(row.wrote)
    if (row.unreportedMs !== undefined) expect(stage.told.ended?.unreportedMs).toBe(row.unreportedMs)
    if (row.aborted !== undefined) expect(stage.upstream?.aborted).toBe(row.aborted)
  })

  test('whatever follows the end changes nothing', async () => {
    const after = 'head 200, data tE#, end, reset, gone, stop, deadline, pulse, wait 99999'
    for (const row of ROWS) {
      const once = await played(row)
      const again = await played({ ...row, play: `${row.play}${row.play === '' ? '' : ', '}${after}` })
      if (row.ended === undefined) expect(again.told.verdict).toEqual(once.told.verdict)
      else expect([row.name, endedText(again.told.ended)]).toEqual([row.name, endedText(once.told.ended)])
      expect(again.timers.pending, row.name).toBe(0)
      const readOn = again.leftReading !== undefined && row.graceMs !== 0
      expect(again.drainEnds, row.name).toBe(readOn ? 1 : 0)
    }
  })
})

describe('a client that reads slowly', () => {
  test('stops the upstream, and starts it again when it reads on', async () => {
    const stage = await played({ name: '', play: 'sent, head 200, full, data t', verdict: '' })
    expect(stage.upstream?.paused).toBe(true)
    stage.play('drain')
    expect(stage.upstream?.paused).toBe(false)
  })

  test('and leaves: the upstream is read on, nothing waits for a client that is not there', async () => {
    const stage = await played({ name: '', play: 'sent, head 200, full, data t, gone', verdict: '' })
    expect(stage.upstream?.paused).toBe(false)
    stage.play('data t')
    stage.play('data fu$')
    await new Promise((resolve) => setImmediate(resolve))
    expect(endedText(stage.told.ended)).toBe('client-gone/whole/12')
    expect(stage.told.ended?.unhindered).toBe(false)
  })
})

describe('what is on record while it runs', () => {
  test('the first note of a stream is made at the next beat after its first word, the next ones when it has grown', async () => {
    const stage = await played({
      name: '',
      play: 'sent, head 200, data p, pulse, data t, pulse, pulse, data t, pulse',
      verdict: '',
    })
    expect(stage.progress.map(({ usage }) => usage.output)).toEqual([1, 2])
  })

  test('a whole answer is noted like a stream, once it reaches its client', async () => {
    const long = 't'.repeat(1_048_577)
    const play = `sent, head 200 json, data t, pulse, data ${long}, pulse, pulse`
    const stage = await played({ name: '', whole: true, play, verdict: '' })
    expect(stage.progress.map(({ usage }) => usage.output)).toEqual([long.length + 1])
  })

  test('a client that leaves is noted with what was made so far, also before the head', async () => {
    expect((await played({ name: '', play: 'sent, gone', verdict: '' })).leftReading?.usage).toMatchObject({
      input: 7,
    })
    expect((await played({ name: '', play: 'gone', verdict: '' })).leftReading).toBeUndefined()
    const middle = await played({ name: '', play: 'sent, head 200, data tt, gone', verdict: '' })
    expect(middle.leftReading?.usage.output).toBe(2)
  })

  test('a whole answer that is read on unheard is kept no more', async () => {
    const stage = await played({
      name: '',
      whole: true,
      play: 'sent, head 200 json, data t, gone',
      verdict: '',
    })
    expect(stage.words.forgotten).toBe(true)
    const later = await played({ name: '', whole: true, play: 'sent, gone, head 200 json', verdict: '' })
    expect(later.words.forgotten).toBe(true)
  })
})

/** How an exchange comes into each of its states. */
const REACHED: Readonly<Record<keyof typeof REACTIONS, Pick<Row, 'play' | 'whole' | 'far'>>> = {
  waiting: { play: 'sent' },
  refused: { play: 'sent, head 500, data no' },
  opening: { play: 'sent, head 200, data p' },
  converting: { play: 'sent, head 200 json, data tu, end', whole: true, far: true },
  answering: { play: 'sent, head 200, data t' },
  'error-sent': { play: 'sent, head 200, data t, data E' },
  draining: { play: 'sent, head 200, data t, gone' },
  counting: { play: 'sent, head 200 json, data tf, gone, end', whole: true, far: true },
  closing: { play: 'sent, head 200, data t, data fu$' },
  over: { play: 'sent, reset' },
}
/** What can happen, as steps of a play. */
const HAPPENS: Readonly<Record<keyof (typeof REACTIONS)['over'], string>> = {
  head: 'head 200',
  data: 'data t',
  end: 'end',
  failure: 'reset',
  deadline: 'deadline',
  stop: 'stop',
  fault: 'fault',
  gone: 'gone',
}
/** Verdict, ending/generation/output tokens, what the client has read, what it reads once released, and whether the upstream was cut. */
const FOLLOWS: Readonly<Record<keyof typeof REACTIONS, Readonly<Record<keyof typeof HAPPENS, string>>>> = {
  waiting: {
    head: 'none, none, -',
    data: 'none, none, -',
    end: 'failed: transport protocol, upstream-error/none/unread, -',
    failure: 'failed: transport reset, upstream-error/none/unread, -',
    deadline: 'failed: deadline, upstream-error/none/unread, - cut',
    stop: 'stopped, stopped/none/unread, - cut',
    fault: 'broken, gateway-error/none/unread, - cut',
    gone: 'gone, none, -',
  },
  refused: {
    head: 'none, none, -',
    data: 'none, none, -',
    end: 'failed: status 500 no, upstream-error/none/unread, -',
    failure: 'failed: transport reset, upstream-error/none/unread, -',
    deadline: 'failed: deadline, upstream-error/none/unread, - cut',
    stop: 'stopped, stopped/none/unread, - cut',
    fault: 'broken, gateway-error/none/unread, - cut',
    gone: 'gone, client-gone/none/unread, - cut',
  },
  opening: {
    head: 'none, none, -',
    data: 'committed, none, 200 pt',
    end: 'failed: answer, upstream-error/none/unread, -',
    failure: 'failed: transport reset, upstream-error/none/unread, -',
    deadline: 'failed: deadline, upstream-error/none/unread, - cut',
    stop: 'stopped, stopped/none/unread, - cut',
    fault: 'broken, gateway-error/none/unread, - cut',
    gone: 'gone, none, -',
  },
  converting: {
    head: 'none, none, -',
    data: 'none, none, -',
    end: 'none, none, -',
    failure: 'none, none, -',
    deadline: 'none, none, -',
    stop: 'none, none, -',
    fault: 'broken, gateway-error/none/unread, -',
    gone: 'none, none, -',
  },
  answering: {
    head: 'committed, none, 200 t',
    data: 'committed, none, 200 tt',
    end: 'committed, upstream-cut/broken/1, 200 t(<50201>.)',
    failure: 'committed, upstream-cut/broken/1, 200 t(<50201>.)',
    deadline: 'committed, none, 200 t',
    stop: 'committed, stopped/cut/1, 200 t(<50301>.) cut',
    fault: 'committed, gateway-error/cut/1, 200 t(<50000>.) cut',
    gone: 'committed, none, 200 t',
  },
  'error-sent': {
    head: 'committed, none, 200 t',
    data: 'committed, none, 200 t',
    end: 'committed, upstream-error/broken/1, 200 t(E.)',
    failure: 'committed, upstream-error/broken/1, 200 t(E.)',
    deadline: 'committed, none, 200 t',
    stop: 'committed, upstream-error/broken/1, 200 t(E.) cut',
    fault: 'committed, upstream-error/broken/1, 200 t(E.) cut',
    gone: 'committed, client-gone/broken/1, 200 t cut',
  },
  draining: {
    head: 'committed, none, 200 t',
    data: 'committed, none, 200 t',
    end: 'committed, client-gone/broken/1, 200 t',
    failure: 'committed, client-gone/broken/1, 200 t',
    deadline: 'committed, client-gone/cut/1, 200 t cut',
    stop: 'committed, client-gone/cut/1, 200 t cut',
    fault: 'committed, client-gone/cut/1, 200 t cut',
    gone: 'committed, none, 200 t',
  },
  counting: {
    head: 'gone, none, -',
    data: 'gone, none, -',
    end: 'gone, none, -',
    failure: 'gone, none, -',
    deadline: 'gone, none, -',
    stop: 'gone, none, -',
    fault: 'gone, client-gone/cut/1, -',
    gone: 'gone, none, -',
  },
  closing: {
    head: 'committed, complete/whole/11, 200 t(fu$.)',
    data: 'committed, complete/whole/11, 200 t(fu$.)',
    end: 'committed, complete/whole/11, 200 t(fu$.)',
    failure: 'committed, complete/whole/11, 200 t(fu$.)',
    deadline: 'committed, complete/whole/11, 200 t(fu$.)',
    stop: 'committed, complete/whole/11, 200 t(fu$.)',
    fault: 'committed, complete/whole/11, 200 t(fu$.)',
    gone: 'committed, complete/whole/11, 200 t(fu$.)',
  },
  over: {
    head: 'failed: transport reset, upstream-error/none/unread, -',
    data: 'failed: transport reset, upstream-error/none/unread, -',
    end: 'failed: transport reset, upstream-error/none/unread, -',
    failure: 'failed: transport reset, upstream-error/none/unread, -',
    deadline: 'failed: transport reset, upstream-error/none/unread, -',
    stop: 'failed: transport reset, upstream-error/none/unread, -',
    fault: 'failed: transport reset, upstream-error/none/unread, -',
    gone: 'failed: transport reset, upstream-error/none/unread, -',
  },
}

describe('every state and everything that can happen in it', () => {
  const pairs = Object.entries(REACHED).flatMap(([state, reached]) =>
    Object.entries(HAPPENS).map(([event, step]) => ({ state, event, step, reached })),
  )

  test.each(pairs)('$state, $event', async ({ state, event, step, reached }) => {
    const stage = await played({ ...reached, name: '', play: `${reached.play}, ${step}`, verdict: '' })
    const { told, reply, upstream } = stage
    const cut = upstream?.aborted === true ? ' cut' : ''
    const read = reply.wrote
    stage.exchange.release()
    const released = reply.wrote.slice(read.length)
    const wrote = `${read.trim() || '-'}${released === '' ? '' : `(${released})`}`
    const follows = `${verdictText(told.verdict)}, ${endedText(told.ended)}, ${wrote}${cut}`
    const expected: Readonly<Record<string, Readonly<Record<string, string>>>> = FOLLOWS
    expect(follows).toBe(expected[state]?.[event])
  })
})
