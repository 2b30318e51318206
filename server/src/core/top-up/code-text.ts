/**
 * How a redemption code is written: Crockford's base32 in four groups of five, the last symbol a check over the others.
 * People read codes aloud and copy them from paper, so case, dashes and look-alike letters make no difference.
 */

const SYMBOLS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const BASE = BigInt(SYMBOLS.length)
const GROUP_SYMBOLS = 5
/** 95 bits: nobody finds one by trying, however many there are. */
const VALUE_SYMBOLS = 19
const CODE_SYMBOLS = VALUE_SYMBOLS + 1
/** Crockford's check: a prime above the base, so that one wrong symbol and two swapped ones are always seen. */
const CHECK_PRIME = 37n

/** Bits of a code that are drawn. */
export const CODE_VALUE_BITS = 95

/** More at once would be an answer nobody can look through, and a long transaction. */
export const CODES_PER_BATCH_MAX = 10_000

/**
 * undefined: this value's check would be one of Crockford's five signs, which neither phones nor selections by double
 * click take for part of a word; draw another one.
 */
export function writeCode(value: bigint): string | undefined {
  const check = SYMBOLS[Number(value % CHECK_PRIME)]
  if (check === undefined) return undefined
  let symbols = check
  let rest = value
  for (let place = 0; place < VALUE_SYMBOLS; place += 1) {
    symbols = SYMBOLS.charAt(Number(rest % BASE)) + symbols
    rest /= BASE
  }
  if (rest > 0n) throw new Error(`a code holds ${CODE_VALUE_BITS} bits`)
  return grouped(symbols)
}

/** What a person typed in the one form a code has; undefined: no code is written so. */
export function readCode(text: string): string | undefined {
  const symbols = plainSymbols(text)
  if (symbols.length !== CODE_SYMBOLS) return undefined
  let value = 0n
  for (const symbol of symbols.slice(0, VALUE_SYMBOLS)) {
    const digit = SYMBOLS.indexOf(symbol)
    if (digit < 0) return undefined
    value = value * BASE + BigInt(digit)
  }
  return SYMBOLS[Number(value % CHECK_PRIME)] === symbols.at(-1) ? grouped(symbols) : undefined
}

/** What a list shows of a code: its first group, which leaves 70 bits to guess. */
export function codeHint(code: string): string {
  return code.slice(0, GROUP_SYMBOLS)
}

/** Letters that codes never hold, by the symbols they are taken for. */
const LOOK_ALIKES: Readonly<Record<string, string>> = { O: '0', I: '1', L: '1', U: 'V' }

/** Wide forms become plain ones; blanks and dashes of every kind go. */
function plainSymbols(text: string): string {
  return text
    .normalize('NFKC')
    .toUpperCase()
    .replace(/[\p{White_Space}\p{Dash}]/gu, '')
    .replace(/[OILU]/g, (letter) => LOOK_ALIKES[letter] ?? letter)
}

function grouped(symbols: string): string {
  const groups: string[] = []
  for (let start = 0; start < symbols.length; start += GROUP_SYMBOLS)
    groups.push(symbols.slice(start, start + GROUP_SYMBOLS))
  return groups.join('-')
}
