import { HOUR_MS } from '../durations.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { LimitState, Taken } from '../ledger/hot-rows.ts'
import { NO_USAGE } from '../canonical/usage.ts'
import { type Counts, NOTHING_USED } from '../metering/quantities.ts'
import type { Consumed } from './dimension-rule.ts'
import {
  decideLimits,
  emptyState,
  giveBackLimits,
  longer,
  readWindows,
  settleLimits,
  takeLimits,
} from './limit-state.ts'
import { NaiveWindow } from './naive-window.ts'
import { type Dimension, DIMENSIONS, type Policy, type WindowLimit } from './policy.ts'
import { correctQuota, settleQuota } from './quota.ts'
import { tierPolicy } from './tiers.ts'

const SUBJECT = 'key:1'
/** One minute before midnight UTC, so that every clock boundary is one minute ahead. */
const NOON = Date.UTC(2026, 0, 31, 23, 59, 0)

const counts = (part: Partial<Counts> = {}): Counts => ({
  requests: 1,
  images: 0,
  videos: 0,
  videoSeconds: 0,
  ...part,
})
/** In units of the windows. */
interface Units {
  readonly tokens: bigint
  readonly images: bigint
  readonly videoSeconds: bigint
  readonly characters: bigint
  readonly audioHundredths: bigint
  readonly amount: bigint
}
const consumed = (part: Partial<Units> = {}): Consumed => ({
  used: {
    ...NOTHING_USED,
    usage: { ...NO_USAGE, input: Number(part.tokens ?? 0n) },
    images: Number(part.images ?? 0n),
    videoSeconds: Number(part.videoSeconds ?? 0n),
    characters: Number(part.characters ?? 0n),
    audioSeconds: Number(part.audioHundredths ?? 0n) / 100,
  },
  amount: part.amount ?? 0n,
})

/** A subject with its policy, driven like a caller does: check, then take. */
function subject(policy: Partial<Policy>) {
  const tiered = tierPolicy({ concurrency: undefined, windows: [], ...policy })
  let state = emptyState(SUBJECT)
  return {
    state: () => state,
    check: (at: number, asked = counts()) => decideLimits(state, tiered, { counts: asked, at }),
    take: (at: number, asked = counts()): Taken | undefined => {
      if (decideLimits(state, tiered, { counts: asked, at }) !== undefined) return undefined
      const result = takeLimits(state, tiered, { counts: asked, at })
      state = result.state
      return result.taken
    },
    giveBack: (taken: Taken | undefined) => {
      if (taken === undefined) throw new Error('nothing was taken')
      state = giveBackLimits(state, taken)
    },
    settle: (taken: Taken | undefined, at: number, used: Partial<Units> = {}) => {
      if (taken === undefined) throw new Error('nothing was taken')
      state = settleLimits(state, taken, { consumed: consumed(used), at })
    },
    read: (at: number) => readWindows([{ state, policy: tiered }], at),
  }
}

const windows = (...limits: readonly WindowLimit[]): Partial<Policy> => ({ windows: limits })

/** How one call of each dimension fills a window of limit 2. */
const FILLING: Readonly<
  Record<Dimension, { readonly asks: Partial<Counts>; readonly uses: Partial<Units> }>
> = {
  requests: { asks: {}, uses: {} },
  tokens: { asks: {}, uses: { tokens: 2n } },
  images: { asks: { images: 2 }, uses: { images: 2n } },
  videos: { asks: { videos: 2 }, uses: {} },
  amount: { asks: {}, uses: { amount: 2_000_000n } },
  video_seconds: { asks: { videos: 1, videoSeconds: 2 }, uses: { videoSeconds: 2n } },
  characters: { asks: { characters: 2 }, uses: { characters: 2n } },
  audio_seconds: { asks: { audioSeconds: 2 }, uses: { audioHundredths: 200n } },
}
const CODES: Readonly<Record<Dimension, number>> = {
  requests: 42902,
  tokens: 42903,
  images: 42902,
  videos: 42902,
  amount: 42902,
  video_seconds: 42910,
  characters: 42902,
  audio_seconds: 42902,
}

/** Rows that say each dimension has a window and an anchor of its own (docs/reference/contract.md#8-13). */
const OWN_WINDOW: Readonly<Record<Dimension, string>> = {
  requests: '[8-13]',
  tokens: '[8-14]',
  images: '[8-15]',
  videos: '[8-16]',
  amount: '[8-17]',
  video_seconds: '[8-18]',
  characters: '',
  audio_seconds: '',
}

describe('every dimension', () => {
  test.each(DIMENSIONS)(
    '%s: full until exactly its first use plus its length, with the exact wait [8-20] [8-21]',
    (dimension) => {
      const limit = dimension === 'requests' ? 1 : 2
      const { asks, uses } = FILLING[dimension]
      const key = subject(windows({ dimension, limit, seconds: 3600 }))
      expect(key.check(NOON, counts(asks))).toBeUndefined()
      key.settle(key.take(NOON, counts(asks)), NOON, uses)
      const told = { dimension, limit, seconds: 3600 }
      const refused = { code: CODES[dimension], retryAfterMs: HOUR_MS - 1, limit: told }
      expect(key.check(NOON + 1, counts(asks))).toEqual(refused)
      expect(key.check(NOON + HOUR_MS - 1, counts(asks))).toMatchObject({ ...refused, retryAfterMs: 1 })
      expect(key.check(NOON + HOUR_MS, counts(asks))).toBeUndefined()
    },
  )

  test.each(DIMENSIONS)('%s: midnight and the full minute reset nothing [8-22]', (dimension) => {
    const limit = dimension === 'requests' ? 1 : 2
    const { asks, uses } = FILLING[dimension]
    const key = subject(windows({ dimension, limit, seconds: 86_400 }))
    key.settle(key.take(NOON, counts(asks)), NOON, uses)
    expect(key.check(NOON + 60_000, counts(asks))?.code).toBe(CODES[dimension])
    expect(key.check(NOON + 120_000, counts(asks))?.code).toBe(CODES[dimension])
  })

  test.each(
    DIMENSIONS.flatMap((one) =>
      DIMENSIONS.filter((other) => other !== one).map((other) => ({ id: OWN_WINDOW[other], one, other })),
    ),
  )('$id using $one neither anchors nor fills $other', ({ one, other }) => {
    const key = subject(
      windows({ dimension: one, limit: 2, seconds: 60 }, { dimension: other, limit: 2, seconds: 60 }),
    )
    // `requests` is used by every call, so it is no witness of another dimension's use.
    const asks = counts({ requests: one === 'requests' ? 1 : 0, ...FILLING[one].asks, ...ownVideo(one) })
    key.settle(key.take(NOON, asks), NOON, FILLING[one].uses)
    expect(key.state().windows.map((window) => window.tier)).toEqual([`${one}:60`])
  })
})

/** Video seconds without counting a video, so that the two dimensions can be distinguished. */
const ownVideo = (dimension: Dimension): Partial<Counts> =>
  dimension === 'video_seconds' ? { videos: 0 } : {}

describe('windows', () => {
  test('a short and a long tier of one dimension each refuse in turn [8-24]', () => {
    const key = subject(
      windows(
        { dimension: 'requests', limit: 1, seconds: 60 },
        { dimension: 'requests', limit: 2, seconds: 3600 },
      ),
    )
    expect(key.take(NOON)).toBeDefined()
    expect(key.check(NOON + 1000)).toMatchObject({ code: 42902, retryAfterMs: 59_000 })
    expect(key.take(NOON + 60_000)).toBeDefined()
    expect(key.check(NOON + 120_000)).toMatchObject({ code: 42902, retryAfterMs: HOUR_MS - 120_000 })
  })

  test('of several exceeded windows the longest wait is reported, with the code of that window [D-admission-10]', () => {
    const key = subject(
      windows(
        { dimension: 'tokens', limit: 10, seconds: 3600 },
        { dimension: 'requests', limit: 1, seconds: 60 },
      ),
    )
    key.settle(key.take(NOON), NOON, { tokens: 10n })
    expect(key.check(NOON)).toMatchObject({ code: 42903, retryAfterMs: HOUR_MS })
    expect(
      longer<{ code: number; retryAfterMs: number }>(
        { code: 42902, retryAfterMs: 5 },
        { code: 42903, retryAfterMs: 5 },
      )?.code,
    ).toBe(42902)
  })

  test('requests count while the first call still runs; a refused call changes no state [D-admission-12]', () => {
    const key = subject(windows({ dimension: 'requests', limit: 1, seconds: 60 }))
    key.take(NOON)
    const before = key.state()
    expect(key.take(NOON + 1)).toBeUndefined()
    expect(key.state()).toBe(before)
  })

  test('tokens and amount refuse the next call once full, never the call that fills them [D-admission-15] [D-admission-16]', () => {
    const key = subject(
      windows(
        { dimension: 'tokens', limit: 100, seconds: 60 },
        { dimension: 'amount', limit: 5, seconds: 60 },
      ),
    )
    const first = key.take(NOON)
    const second = key.take(NOON)
    key.settle(first, NOON, { tokens: 99n, amount: 4_999_999n })
    expect(key.check(NOON)).toBeUndefined()
    key.settle(second, NOON, { tokens: 1000n, amount: 9_000_000n })
    expect(key.check(NOON)?.code).toBe(42903)
  })

  test('tokens anchor when they are first charged, not when the call was admitted', () => {
    const key = subject(windows({ dimension: 'tokens', limit: 5, seconds: 60 }))
    const slow = key.take(NOON)
    key.settle(slow, NOON + 50_000, { tokens: 5n })
    expect(key.check(NOON + 60_000)).toMatchObject({ code: 42903, retryAfterMs: 50_000 })
  })

  test('two images produced move the window by two [D-admission-31]', () => {
    const key = subject(windows({ dimension: 'images', limit: 3, seconds: 60 }))
    key.settle(key.take(NOON, counts({ images: 1 })), NOON, { images: 2n })
    expect(key.read(NOON)).toMatchObject([{ remaining: 1 }])
  })

  test('an image that was taken and not produced is given back', () => {
    const key = subject(windows({ dimension: 'images', limit: 1, seconds: 60 }))
    key.settle(key.take(NOON, counts({ images: 1 })), NOON)
    expect(key.check(NOON, counts({ images: 1 }))).toBeUndefined()
  })

  test('a second image call is refused while the first runs on a limit of one [D-admission-13] [D-admission-32]', () => {
    const key = subject(windows({ dimension: 'images', limit: 1, seconds: 60 }))
    key.take(NOON, counts({ images: 1 }))
    expect(key.check(NOON, counts({ images: 1 }))?.code).toBe(42902)
  })

  test('video seconds beyond the remaining limit are refused while the first video runs [D-admission-18]', () => {
    const key = subject(windows({ dimension: 'video_seconds', limit: 10, seconds: 60 }))
    const first = key.take(NOON, counts({ videos: 1, videoSeconds: 6 }))
    expect(key.check(NOON, counts({ videos: 1, videoSeconds: 5 }))?.code).toBe(42910)
    expect(key.check(NOON, counts({ videos: 1, videoSeconds: 4 }))).toBeUndefined()
    key.giveBack(first)
    expect(key.check(NOON, counts({ videos: 1, videoSeconds: 10 }))).toBeUndefined()
  })

  test('after the end the window counts the seconds billed [D-admission-17]', () => {
    const key = subject(windows({ dimension: 'video_seconds', limit: 10, seconds: 60 }))
    key.settle(key.take(NOON, counts({ videos: 1, videoSeconds: 6 })), NOON, { videoSeconds: 4n })
    expect(key.read(NOON)).toMatchObject([{ remaining: 6 }])
    expect(key.state().windows).toMatchObject([{ used: 4n, held: 0n }])
  })

  test('seconds held over the end of a window still count, and are charged where they settle', () => {
    const key = subject(windows({ dimension: 'video_seconds', limit: 10, seconds: 60 }))
    const long = key.take(NOON, counts({ videos: 1, videoSeconds: 8 }))
    expect(key.check(NOON + 61_000, counts({ videos: 1, videoSeconds: 3 }))?.code).toBe(42910)
    key.settle(long, NOON + 70_000, { videoSeconds: 8n })
    expect(key.check(NOON + 70_001, counts({ videos: 1, videoSeconds: 3 }))).toMatchObject({
      code: 42910,
      retryAfterMs: 59_999,
    })
  })

  test('counts of a call that never generated are given back [D-admission-19]', () => {
    const key = subject(
      windows(
        { dimension: 'requests', limit: 1, seconds: 60 },
        { dimension: 'images', limit: 1, seconds: 60 },
        { dimension: 'videos', limit: 1, seconds: 60 },
      ),
    )
    const asked = counts({ images: 1, videos: 1 })
    key.giveBack(key.take(NOON, asked))
    expect(key.state()).toEqual(emptyState(SUBJECT))
    expect(key.take(NOON + 1, asked)).toBeDefined()
  })

  test('a count given back after its window rolled over is not credited to the next one', () => {
    const key = subject(windows({ dimension: 'requests', limit: 2, seconds: 60 }))
    const late = key.take(NOON)
    key.take(NOON + 60_000)
    key.giveBack(late)
    expect(key.read(NOON + 60_000)).toMatchObject([{ remaining: 1 }])
  })

  test('giving back frees its own count only: the anchor of the others stays', () => {
    const key = subject(windows({ dimension: 'requests', limit: 2, seconds: 60 }))
    const first = key.take(NOON)
    key.take(NOON + 10_000)
    key.giveBack(first)
    expect(key.read(NOON + 10_000)).toMatchObject([{ remaining: 1, resetMs: 50_000 }])
  })

  test('a chat call passes a full image or video window, a video call a full token window', () => {
    const key = subject(
      windows(
        { dimension: 'images', limit: 0, seconds: 60 },
        { dimension: 'videos', limit: 1, seconds: 60 },
        { dimension: 'tokens', limit: 0, seconds: 60 },
      ),
    )
    expect(key.check(NOON)?.code).toBe(42903)
    expect(key.check(NOON, counts({ videos: 1 }))).toBeUndefined()
  })

  test('a call larger than the limit is refused for a whole window, anchoring none', () => {
    const key = subject(windows({ dimension: 'images', limit: 1, seconds: 60 }))
    expect(key.check(NOON, counts({ images: 2 }))).toMatchObject({ code: 42902, retryAfterMs: 60_000 })
  })

  test('two limits of one dimension and length are one window, the smaller limit rules', () => {
    const limits = [
      { dimension: 'requests', limit: 5, seconds: 60 },
      { dimension: 'requests', limit: 1, seconds: 60 },
      { dimension: 'requests', limit: 3, seconds: 60 },
    ] as const
    const key = subject(windows(...limits))
    expect(key.take(NOON)).toBeDefined()
    expect(key.state().windows).toHaveLength(1)
    expect(key.take(NOON)).toBeUndefined()
  })

  test('an amount limit is in Credits, decimals included', () => {
    const key = subject(windows({ dimension: 'amount', limit: 0.5, seconds: 60 }))
    key.settle(key.take(NOON), NOON, { amount: 499_999n })
    expect(key.read(NOON)).toMatchObject([{ limit: 0.5, remaining: 0.000001 }])
    key.settle(key.take(NOON), NOON, { amount: 1n })
    expect(key.check(NOON)?.code).toBe(42902)
  })

  test('windows of a tier that the policy dropped are removed when they are over and no call holds them', () => {
    const before = subject(
      windows(
        { dimension: 'requests', limit: 9, seconds: 60 },
        { dimension: 'video_seconds', limit: 9, seconds: 60 },
      ),
    )
    const video = before.take(NOON, counts({ videos: 1, videoSeconds: 3 }))
    if (video === undefined) throw new Error('the video was refused')
    const policy = tierPolicy({ concurrency: undefined, windows: [] })
    const tiersAfter = (state: LimitState, at: number) =>
      takeLimits(state, policy, { counts: counts(), at }).state.windows.map((window) => window.tier)
    expect(tiersAfter(before.state(), NOON + 59_999)).toEqual(['requests:60', 'video_seconds:60'])
    expect(tiersAfter(before.state(), NOON + 60_000)).toEqual(['video_seconds:60'])
    expect(tiersAfter(giveBackLimits(before.state(), video), NOON + 60_000)).toEqual([])
  })

  test('a window that only an earlier version knew goes with the call that took it; the others stay as they are', () => {
    const held = { anchor: NOON, used: 0n, held: 3n }
    const state: LimitState = {
      subject: SUBJECT,
      slots: 1,
      windows: [
        { tier: 'pages:60', ...held },
        { tier: 'images:60', ...held },
      ],
    }
    const taken: Taken = { subject: SUBJECT, counts: counts(), tiers: { 'pages:60': NOON } }
    expect(giveBackLimits(state, taken)).toEqual({ ...state, slots: 0, windows: state.windows.slice(1) })
  })

  test('a tier taken out of a policy and put back has not begun anew', () => {
    const limited = tierPolicy({
      concurrency: undefined,
      windows: [{ dimension: 'requests', limit: 1, seconds: 60 }],
    })
    const call = { counts: counts(), at: NOON }
    const first = takeLimits(emptyState(SUBJECT), limited, call).state
    const without = takeLimits(first, tierPolicy({ concurrency: undefined, windows: [] }), call).state
    expect(decideLimits(without, limited, call)).toMatchObject({ code: 42902, retryAfterMs: 60_000 })
  })
})

describe('concurrency', () => {
  test('holds without any window, and no window counts it [8-19]', () => {
    const key = subject({ concurrency: 1 })
    const first = key.take(NOON)
    expect(key.check(NOON)).toMatchObject({ code: 42901, retryAfterMs: 1000 })
    expect(key.state().windows).toEqual([])
    key.settle(first, NOON)
    expect(key.check(NOON)).toBeUndefined()
  })

  test('a window with a longer wait is reported instead', () => {
    const key = subject({ concurrency: 1, ...windows({ dimension: 'requests', limit: 1, seconds: 60 }) })
    key.take(NOON)
    expect(key.check(NOON)?.code).toBe(42902)
    expect(key.check(NOON + 59_500)?.code).toBe(42901)
  })

  test('slots are counted without a limit too, so that a limit set later knows the running calls', () => {
    const key = subject({})
    key.take(NOON)
    const limited = tierPolicy({ concurrency: 1, windows: [] })
    expect(decideLimits(key.state(), limited, { counts: counts(), at: NOON })?.code).toBe(42901)
  })
})

describe('a clock set back', () => {
  const limit = { dimension: 'requests', limit: 1, seconds: 60 } as const

  test('by less than the length: the window runs on to its own end', () => {
    const key = subject(windows(limit))
    key.take(NOON)
    expect(key.check(NOON - 30_000)).toMatchObject({ code: 42902, retryAfterMs: 90_000 })
    expect(key.check(NOON + 60_000)).toBeUndefined()
  })

  test('by the length or more: the window is over instead of lasting for ever', () => {
    const key = subject(windows(limit))
    key.take(NOON)
    expect(key.take(NOON - 60_000)).toBeDefined()
    expect(key.check(NOON - 59_999)).toMatchObject({ code: 42902, retryAfterMs: 59_999 })
  })

  test.each<[Dimension, number, Partial<Units>]>([
    ['tokens', 42903, { tokens: 1000n }],
    ['images', 42902, { images: 1000n }],
  ])('a call that begins then ends windows of %s too: it counts in a new one', (dimension, code, all) => {
    const key = subject(windows({ dimension, limit: 1000, seconds: 60 }))
    key.settle(key.take(NOON), NOON, all)
    const call = key.take(NOON - HOUR_MS)
    expect(key.state().windows).toEqual([])
    key.settle(call, NOON - HOUR_MS + 1, all)
    expect(key.check(NOON - HOUR_MS + 2, counts({ images: 1 }))).toMatchObject({ code, retryAfterMs: 59_999 })
  })
})

describe('an end that is reported late, as of its time', () => {
  const tokens = { dimension: 'tokens', limit: 1000, seconds: 60 } as const

  test('puts no old window in place of the one that runs, and counts there', () => {
    const key = subject(windows(tokens))
    const [first, second] = [key.take(NOON), key.take(NOON)]
    key.settle(second, NOON + 100_000, { tokens: 700n })
    key.settle(first, NOON, { tokens: 300n })
    expect(key.check(NOON + 100_001)).toMatchObject({ code: 42903, retryAfterMs: 59_999 })
  })

  test('of a quota counts in the window that runs too', () => {
    const tiers = ['amount:60']
    const later = settleQuota(emptyState('quota:1'), tiers, {
      held: 0n,
      charged: 7n,
      at: NOON + 100_000,
      quota: [],
    })
    const both = settleQuota(later, tiers, { held: 0n, charged: 3n, at: NOON, quota: [] })
    const corrected = correctQuota(both, tiers, { counted: {}, charged: 5n, at: NOON, quota: [] })
    expect(corrected.windows).toEqual([{ tier: 'amount:60', anchor: NOON + 100_000, used: 15n, held: 0n }])
  })
})

describe('readings', () => {
  test('name the tightest window of each dimension over key and account', () => {
    const policyOf = (...limits: readonly WindowLimit[]) => tierPolicy({ concurrency: 3, windows: limits })
    const key = policyOf(
      { dimension: 'requests', limit: 10, seconds: 60 },
      { dimension: 'requests', limit: 100, seconds: 3600 },
    )
    const account = policyOf(
      { dimension: 'requests', limit: 10, seconds: 7200 },
      { dimension: 'tokens', limit: 50, seconds: 60 },
    )
    const call = { counts: counts(), at: NOON }
    const subjects = [key, account].map((policy) => ({
      policy,
      state: takeLimits(emptyState(SUBJECT), policy, call).state,
    }))
    expect(readWindows(subjects, NOON + 1000)).toEqual([
      { dimension: 'requests', limit: 10, remaining: 9, seconds: 7200, resetMs: 7_199_000 },
      { dimension: 'tokens', limit: 50, remaining: 50, seconds: 60, resetMs: 60_000 },
    ])
  })

  test('never go below zero', () => {
    const key = subject(windows({ dimension: 'tokens', limit: 5, seconds: 60 }))
    key.settle(key.take(NOON), NOON, { tokens: 50n })
    expect(key.read(NOON)).toMatchObject([{ remaining: 0 }])
  })
})

describe('against a naive model', () => {
  const limits: readonly WindowLimit[] = [
    { dimension: 'requests', limit: 3, seconds: 10 },
    { dimension: 'requests', limit: 6, seconds: 60 },
    { dimension: 'tokens', limit: 50, seconds: 20 },
    { dimension: 'images', limit: 4, seconds: 15 },
    { dimension: 'videos', limit: 2, seconds: 30 },
    { dimension: 'video_seconds', limit: 12, seconds: 25 },
    { dimension: 'amount', limit: 1, seconds: 40 },
  ]
  const step = fc.record({
    act: fc.constantFrom('reserve', 'reserve', 'settle', 'abandon'),
    wait: fc.nat({ max: 9_000 }),
    pick: fc.nat(),
    images: fc.nat({ max: 2 }),
    video: fc.boolean(),
    seconds: fc.nat({ max: 8 }),
    tokens: fc.nat({ max: 30 }),
    micro: fc.nat({ max: 600_000 }),
  })

  test('any order of calls leaves every window as a list of uses would', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        runAgainstNaive(limits, steps)
      }),
      { numRuns: 300 },
    )
  })
})

interface Step {
  readonly act: 'reserve' | 'settle' | 'abandon'
  readonly wait: number
  readonly pick: number
  readonly images: number
  readonly video: boolean
  readonly seconds: number
  readonly tokens: number
  readonly micro: number
}

function runAgainstNaive(limits: readonly WindowLimit[], steps: readonly Step[]) {
  const policy = tierPolicy({ concurrency: 5, windows: limits })
  const naive = limits.map((limit) => ({
    ...limit,
    units: BigInt(limit.dimension === 'amount' ? 1_000_000 : limit.limit),
    window: new NaiveWindow(limit.seconds * 1000),
  }))
  const running = new Map<string, Taken>()
  let state: LimitState = emptyState(SUBJECT)
  let at = NOON
  let next = 0
  for (const step of steps) {
    at += step.wait
    const id = [...running.keys()][step.pick % Math.max(running.size, 1)]
    const taken = id === undefined ? undefined : running.get(id)
    if (step.act === 'reserve') reserve(step)
    else if (id !== undefined && taken !== undefined) end(id, taken, step)
    compare()
  }

  function reserve(step: Step) {
    const videos = step.video ? 1 : 0
    const asked = { requests: 1, images: step.images, videos, videoSeconds: videos * step.seconds }
    const units: Record<Dimension, number> = {
      requests: 1,
      images: asked.images,
      videos,
      video_seconds: asked.videoSeconds,
      characters: 0,
      audio_seconds: 0,
      tokens: step.video ? 0 : 1,
      amount: 1,
    }
    const waits = naive
      .filter((tier) => units[tier.dimension] > 0)
      .filter(
        (tier) => BigInt(units[tier.dimension]) > tier.units - tier.window.used(at) - tier.window.held(),
      )
      .map((tier) => tier.window.endsInMs(at))
    const full = running.size >= 5 ? [...waits, 1000] : waits
    const refused = decideLimits(state, policy, { counts: asked, at })
    expect(refused?.retryAfterMs).toBe(full.length === 0 ? undefined : Math.max(...full))
    if (refused !== undefined) return
    const result = takeLimits(state, policy, { counts: asked, at })
    state = result.state
    const id = `call_${next++}`
    running.set(id, result.taken)
    for (const { dimension, window } of naive) {
      if (dimension === 'video_seconds') window.hold(id, BigInt(units.video_seconds), at)
      else if (dimension !== 'tokens' && dimension !== 'amount') window.use(id, BigInt(units[dimension]), at)
    }
  }

  function end(id: string, taken: Taken, step: Step) {
    running.delete(id)
    const settled = step.act === 'settle'
    const seconds = taken.counts.videoSeconds
    if (settled) {
      const uses = {
        tokens: BigInt(step.tokens),
        images: BigInt(step.images),
        videoSeconds: BigInt(seconds),
        characters: 0n,
        audioHundredths: 0n,
        amount: BigInt(step.micro),
      }
      state = settleLimits(state, taken, { consumed: consumed(uses), at })
    } else {
      state = giveBackLimits(state, taken)
    }
    for (const { dimension, window } of naive) endNaive(dimension, window)

    function endNaive(dimension: Dimension, window: NaiveWindow) {
      switch (dimension) {
        case 'requests':
          if (!settled) window.giveBack(id, 1n)
          return
        case 'videos':
          if (!settled) window.giveBack(id, BigInt(taken.counts.videos))
          return
        case 'images': {
          const more = (settled ? step.images : 0) - taken.counts.images
          if (more > 0) window.use(id, BigInt(more), at)
          else window.giveBack(id, BigInt(-more))
          return
        }
        case 'video_seconds':
          // One step: the hold becomes the charge, so its window is not empty in between.
          if (settled) window.use(id, BigInt(seconds), at)
          window.release(id)
          return
        case 'tokens':
          if (settled) window.use(id, BigInt(step.tokens), at)
          return
        case 'amount':
          if (settled) window.use(id, BigInt(step.micro), at)
          return
        // No step of these speaks or listens.
        case 'characters':
        case 'audio_seconds':
          return
      }
    }
  }

  function compare() {
    expect(state.slots).toBe(running.size)
    for (const { dimension, seconds, window } of naive) {
      const found = state.windows.find(({ tier }) => tier === `${dimension}:${seconds}`)
      const runs = found !== undefined && at < found.anchor + seconds * 1000
      expect(found?.held ?? 0n).toBe(window.held())
      expect(runs ? found.used : 0n).toBe(window.used(at))
    }
  }
}
