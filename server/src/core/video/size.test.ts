import { describe, expect, test } from 'vitest'
import type { VideoSize } from './request.ts'
import {
  parseSize,
  ratioOfSize,
  sizeNearest,
  sizeOfRatio,
  type TierWords,
  tierOfResolution,
  tierOfSize,
  tierWordOf,
} from './size.ts'

const BOTH = ['16:9', '9:16']
const THREE = [...BOTH, '1:1']
const SIX = ['21:9', '16:9', '4:3', '1:1', '3:4', '9:16']
const FIVE = ['16:9', '9:16', '3:4', '4:3', '1:1']

const VEO: TierWords = { '720p': '720p', '1080p': '1080p', '4k': '4k' }
const KLING: TierWords = { '720p': 'std', '1080p': 'pro', '4k': '4k' }
const ARK: TierWords = { '480p': '480p', '720p': '720p', '1080p': '1080p', '4k': '4k' }
/** With an image, on the model that has 512P. */
const MINIMAX_IMAGE: TierWords = { '480p': '512P', '720p': '768P', '1080p': '1080P' }
const MINIMAX: TierWords = { '720p': '768P', '1080p': '1080P' }
const MINIMAX_2: TierWords = { '720p': '768P', '2k': '2K' }
const VIDU: TierWords = { '540p': '540p', '720p': '720p', '1080p': '1080p' }
const WAN: TierWords = { '480p': '480P', '720p': '720P', '1080p': '1080P' }
const WAN_27: TierWords = { '720p': '720P', '1080p': '1080P' }
const LUMA: TierWords = { '540p': '540p', '720p': '720p', '1080p': '1080p' }
const JIMENG: TierWords = { '720p': '720', '1080p': '1080' }
const XAI: TierWords = { '480p': '480p', '720p': '720p', '1080p': '1080p' }
const XAI_OLD: TierWords = { '480p': '480p', '720p': '720p' }

function sized(text: string): VideoSize {
  const size = parseSize(text)
  if (size === undefined) throw new Error(`no size: ${text}`)
  return size
}

function form(text: string, ratios: readonly string[], words: TierWords): string {
  const size = sized(text)
  return `${ratioOfSize(size, ratios) ?? '–'}, ${tierWordOf(size, words) ?? '–'}`
}

/** size, Veo, Kling's first form, Ark, MiniMax's first form (text, then with an image), its second form, Vidu. */
const FIRST_TABLE: readonly (readonly [string, string, string, string, string, string, string, string])[] = [
  ['1280x720', '16:9, 720p', '16:9, std', '16:9, 720p', '768P', '768P', '16:9, 768P', '16:9, 720p'],
  ['720x1280', '9:16, 720p', '9:16, std', '9:16, 720p', '768P', '768P', '9:16, 768P', '9:16, 720p'],
  ['1920x1080', '16:9, 1080p', '16:9, pro', '16:9, 1080p', '1080P', '1080P', '16:9, 768P', '16:9, 1080p'],
  ['1080x1920', '9:16, 1080p', '9:16, pro', '9:16, 1080p', '1080P', '1080P', '9:16, 768P', '9:16, 1080p'],
  ['1792x1024', '16:9, 1080p', '16:9, pro', '16:9, 1080p', '1080P', '1080P', '16:9, 768P', '16:9, 1080p'],
  ['1024x1792', '9:16, 1080p', '9:16, pro', '9:16, 1080p', '1080P', '1080P', '9:16, 768P', '9:16, 1080p'],
  ['1024x1024', '–, 720p', '1:1, std', '1:1, 720p', '768P', '768P', '1:1, 768P', '1:1, 720p'],
  ['960x960', '–, 720p', '1:1, std', '1:1, 720p', '768P', '768P', '1:1, 768P', '1:1, 720p'],
  ['1440x1440', '–, 1080p', '1:1, pro', '1:1, 1080p', '1080P', '1080P', '1:1, 768P', '1:1, 1080p'],
  ['854x480', '16:9, 720p', '16:9, std', '16:9, 480p', '768P', '512P', '16:9, 768P', '16:9, 540p'],
  ['848x480', '16:9, 720p', '16:9, std', '16:9, 480p', '768P', '512P', '16:9, 768P', '16:9, 540p'],
  ['480x854', '9:16, 720p', '9:16, std', '9:16, 480p', '768P', '512P', '9:16, 768P', '9:16, 540p'],
  ['1104x832', '–, 720p', '–, std', '4:3, 720p', '768P', '768P', '4:3, 768P', '4:3, 720p'],
  ['1112x834', '–, 720p', '–, std', '4:3, 720p', '768P', '768P', '4:3, 768P', '4:3, 720p'],
  ['1024x768', '–, 720p', '–, std', '4:3, 720p', '768P', '768P', '4:3, 768P', '4:3, 720p'],
  ['832x1104', '–, 720p', '–, std', '3:4, 720p', '768P', '768P', '3:4, 768P', '3:4, 720p'],
  ['834x1112', '–, 720p', '–, std', '3:4, 720p', '768P', '768P', '3:4, 768P', '3:4, 720p'],
  ['768x1024', '–, 720p', '–, std', '3:4, 720p', '768P', '768P', '3:4, 768P', '3:4, 720p'],
  ['1470x630', '–, 720p', '–, std', '21:9, 720p', '768P', '768P', '21:9, 768P', '–, 720p'],
  ['1584x672', '–, 720p', '–, std', '21:9, 720p', '768P', '768P', '21:9, 768P', '–, 720p'],
  ['1680x720', '–, 720p', '–, std', '21:9, 720p', '768P', '768P', '21:9, 768P', '–, 720p'],
  ['3840x2160', '16:9, 4k', '16:9, 4k', '16:9, 4k', '1080P', '1080P', '16:9, 2K', '16:9, 1080p'],
]

const WAN_SIZES = [
  ['832*480', '480*832', '624*624'],
  ['1280*720', '720*1280', '960*960', '1088*832', '832*1088'],
  ['1920*1080', '1080*1920', '1440*1440', '1632*1248', '1248*1632'],
].flat()
const RUNWAY_SIZES = ['1280:720', '720:1280', '1104:832', '832:1104', '960:960', '1584:672']
const RUNWAY_VEO_SIZES = ['1280:720', '720:1280', '1920:1080', '1080:1920']
const ZHIPU_SIZES = ['1280x720', '720x1280', '1024x1024', '1920x1080', '1080x1920', '2048x1080', '3840x2160']
/** size, Wan's pixels, Wan's step, Wan 2.7, Runway, Luma, Zhipu, Jimeng, xAI with 1080p, xAI without. */
const SECOND_TABLE: readonly (readonly string[])[] = [
  [
    '1280x720',
    '1280*720',
    '720P',
    '16:9, 720P',
    '1280:720',
    '16:9, 720p',
    '1280x720',
    '16:9, 720',
    '16:9, 720p',
    '16:9, 720p',
  ],
  [
    '720x1280',
    '720*1280',
    '720P',
    '9:16, 720P',
    '720:1280',
    '9:16, 720p',
    '720x1280',
    '9:16, 720',
    '9:16, 720p',
    '9:16, 720p',
  ],
  [
    '1920x1080',
    '1920*1080',
    '1080P',
    '16:9, 1080P',
    '1280:720',
    '16:9, 1080p',
    '1920x1080',
    '16:9, 1080',
    '16:9, 1080p',
    '16:9, 720p',
  ],
  [
    '1080x1920',
    '1080*1920',
    '1080P',
    '9:16, 1080P',
    '720:1280',
    '9:16, 1080p',
    '1080x1920',
    '9:16, 1080',
    '9:16, 1080p',
    '9:16, 720p',
  ],
  [
    '1792x1024',
    '1920*1080',
    '1080P',
    '16:9, 1080P',
    '1280:720',
    '16:9, 1080p',
    '1920x1080',
    '16:9, 1080',
    '16:9, 1080p',
    '16:9, 720p',
  ],
  [
    '1024x1792',
    '1080*1920',
    '1080P',
    '9:16, 1080P',
    '720:1280',
    '9:16, 1080p',
    '1080x1920',
    '9:16, 1080',
    '9:16, 1080p',
    '9:16, 720p',
  ],
  [
    '1024x1024',
    '960*960',
    '720P',
    '1:1, 720P',
    '960:960',
    '1:1, 720p',
    '1024x1024',
    '1:1, 720',
    '1:1, 720p',
    '1:1, 720p',
  ],
  [
    '960x960',
    '960*960',
    '720P',
    '1:1, 720P',
    '960:960',
    '1:1, 720p',
    '1024x1024',
    '1:1, 720',
    '1:1, 720p',
    '1:1, 720p',
  ],
  [
    '1440x1440',
    '1440*1440',
    '1080P',
    '1:1, 1080P',
    '960:960',
    '1:1, 1080p',
    '1024x1024',
    '1:1, 1080',
    '1:1, 1080p',
    '1:1, 720p',
  ],
  [
    '854x480',
    '832*480',
    '480P',
    '16:9, 720P',
    '1280:720',
    '16:9, 540p',
    '1280x720',
    '16:9, 720',
    '16:9, 480p',
    '16:9, 480p',
  ],
  [
    '480x854',
    '480*832',
    '480P',
    '9:16, 720P',
    '720:1280',
    '9:16, 540p',
    '720x1280',
    '9:16, 720',
    '9:16, 480p',
    '9:16, 480p',
  ],
  [
    '1104x832',
    '1088*832',
    '720P',
    '4:3, 720P',
    '1104:832',
    '4:3, 720p',
    '–',
    '4:3, 720',
    '4:3, 720p',
    '4:3, 720p',
  ],
  [
    '832x1104',
    '832*1088',
    '720P',
    '3:4, 720P',
    '832:1104',
    '3:4, 720p',
    '–',
    '3:4, 720',
    '3:4, 720p',
    '3:4, 720p',
  ],
  ['1470x630', '–', '720P', '–, 720P', '1584:672', '21:9, 720p', '–', '21:9, 720', '–, 720p', '–, 720p'],
  [
    '3840x2160',
    '1920*1080',
    '1080P',
    '16:9, 1080P',
    '1280:720',
    '16:9, 1080p',
    '3840x2160',
    '16:9, 1080',
    '16:9, 1080p',
    '16:9, 720p',
  ],
]

describe('a size becomes what each vendor takes instead', () => {
  test.each(FIRST_TABLE)('%s [4.4-27]', (size, veo, kling, ark, minimax, minimaxImage, minimax2, vidu) => {
    expect(form(size, BOTH, VEO)).toBe(veo)
    expect(form(size, THREE, KLING)).toBe(kling)
    expect(form(size, SIX, ARK)).toBe(ark)
    expect(tierWordOf(sized(size), MINIMAX)).toBe(minimax)
    expect(tierWordOf(sized(size), MINIMAX_IMAGE)).toBe(minimaxImage)
    expect(form(size, SIX, MINIMAX_2)).toBe(minimax2)
    expect(form(size, FIVE, VIDU)).toBe(vidu)
  })

  test.each(SECOND_TABLE)('%s, in the second half [4.4-27]', (size = '', ...expected) => {
    const ratiosOfXai = [...FIVE, '3:2', '2:3']
    expect([
      sizeNearest(sized(size), WAN_SIZES) ?? '–',
      tierWordOf(sized(size), WAN),
      form(size, FIVE, WAN_27),
      sizeNearest(sized(size), RUNWAY_SIZES) ?? '–',
      form(size, SIX, LUMA),
      sizeNearest(sized(size), ZHIPU_SIZES) ?? '–',
      form(size, SIX, JIMENG),
      form(size, ratiosOfXai, XAI),
      form(size, ratiosOfXai, XAI_OLD),
    ]).toEqual(expected)
  })

  test.each([
    ['1920x1080', '1920:1080'],
    ['1080x1920', '1080:1920'],
  ])('Veo on Runway has full pixels for %s', (size, pair) => {
    expect(sizeNearest(sized(size), RUNWAY_VEO_SIZES)).toBe(pair)
  })

  test.each([
    ['864x496', '16:9, 480p'],
    ['864x480', '16:9, 480p'],
    ['752x560', '4:3, 480p'],
    ['736x544', '4:3, 480p'],
    ['640x640', '1:1, 480p'],
    ['992x432', '21:9, 480p'],
    ['960x416', '21:9, 480p'],
    ['704x1248', '9:16, 720p'],
    ['832x1120', '3:4, 720p'],
    ['1504x640', '21:9, 720p'],
    ['1920x1088', '16:9, 1080p'],
    ['1664x1248', '4:3, 1080p'],
    ['2206x946', '21:9, 1080p'],
    ['2176x928', '21:9, 1080p'],
    ['3326x2494', '4:3, 4k'],
    ['2880x2880', '1:1, 4k'],
    ['4398x1886', '21:9, 4k'],
  ])('Ark’s own pixels %s are found again', (size, expected) => {
    expect(form(size, SIX, ARK)).toBe(expected)
  })

  test('a ratio more than 3 % from every allowed one is left out [4.4-28]', () => {
    expect(ratioOfSize(sized('1660x900'), BOTH)).toBeUndefined()
    expect(ratioOfSize(sized('1640x900'), BOTH)).toBe('16:9')
    expect(ratioOfSize(sized('1280x720'), [])).toBeUndefined()
    expect(sizeNearest(sized('1000x300'), WAN_SIZES)).toBeUndefined()
    expect(tierWordOf(sized('1280x720'), {})).toBeUndefined()
  })
})

describe('sizes as clients write them', () => {
  test.each([
    ['1280x720', 1280, 720],
    ['720X1280', 720, 1280],
    ['1280*720', 1280, 720],
    [' 1280:720 ', 1280, 720],
  ])('%s is read', (text, width, height) => {
    expect(parseSize(text)).toEqual({ width, height })
  })

  test.each(['', 'auto', '720p', '1280x', '1280x720x3', '1x1', '123456x100', '00x10', '-10x20'])(
    '%s is no size',
    (text) => {
      expect(parseSize(text)).toBeUndefined()
    },
  )
})

describe('the other way round', () => {
  test.each([
    ['16:9', '720p', '1280*720'],
    ['16:9', '480p', '832*480'],
    ['4:3', '1080p', '1632*1248'],
    ['4:3', '480p', '1088*832'],
    ['9:16', '4k', '1080*1920'],
  ] as const)('a list’s size for %s at %s is %s', (ratio, tier, size) => {
    expect(sizeOfRatio({ ratio, tier }, WAN_SIZES)).toBe(size)
  })

  test.each([
    ['21:9', 'no entry has it'],
    ['adaptive', 'no ratio'],
    ['16:0', 'no ratio'],
  ])('%s has none: %s', (ratio) => {
    expect(sizeOfRatio({ ratio, tier: '720p' }, WAN_SIZES)).toBeUndefined()
  })

  test.each([
    ['720p', '720p'],
    ['768P', '768p'],
    ['1440p', '2k'],
    ['2K', '2k'],
    ['4K', '4k'],
    ['2160p', '4k'],
    ['best', undefined],
  ])('%s names the step %s', (resolution, tier) => {
    expect(tierOfResolution(resolution)).toBe(tier)
  })

  test('every step is its own nearest', () => {
    expect(
      ['854x480', '960x540', '1280x720', '1366x768', '1920x1080', '2560x1440', '3840x2160']
        .map(sized)
        .map(tierOfSize),
    ).toEqual(['480p', '540p', '720p', '768p', '1080p', '2k', '4k'])
  })
})
