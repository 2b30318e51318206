/**
 * How a redemption code is written: Crockford's base32 in four groups of five, the last symbol a check over the others.
 * People read codes aloud and copy them from paper, so case, dashes and look-alike letters make no difference.
 */

const SYMBOLS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const BASE = BigInt(SYMBOLS.length)
const GROUP_SYMBOLS = 5
/** 95 bits: codes cannot be guessed, however many there are. */
const VALUE_SYMBOLS = 19
const CODE_SYMBOLS = VALUE_SYMBOLS + 1
/** Crockford's check: a prime above the base, so that one wrong symbol and two swapped ones are always detected. */
const CHECK_PRIME = 37n

/** Random bits of a code. */
export const CODE_VALUE_BITS = 95

/** More at once would make too long an answer and too long a transaction. */
export const CODES_PER_BATCH_MAX = 10_000

/**
 * undefined: the check symbol of this value would be one of Crockford's five punctuation marks, which phones and double
 * clicks do not treat as part of a word; use another value.
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

/** What a person typed, in canonical form; undefined: it cannot be a code. */
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

/** Letters that codes never contain, with the symbols they are read as. */
const LOOK_ALIKES: Readonly<Record<string, string>> = { O: '0', I: '1', L: '1', U: 'V' }

/** Full-width forms become plain ones; blanks and dashes of every kind are removed. */
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
