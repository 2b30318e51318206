/** The parser of answers against two others: what it takes they take, and read the same out of it. */
import { answerMaker, type MadeCase } from './answer-cases.ts'
import { type Reading, readByNode, readByOwn, readByUndici } from './answer-readers.ts'

export interface FuzzOptions {
  readonly seed: number
  readonly cases: number
  /** One case in so many is played to undici too, which takes a hundred times as long. */
  readonly undiciEvery: number
  readonly progress?: (done: number) => void
}

/** How many were taken whole, and how many of the others each way. Rejects at the first difference, naming its seed. */
export async function fuzzAnswers(options: FuzzOptions): Promise<Readonly<Record<Reading['end'], number>>> {
  const make = answerMaker()
  const ends = { whole: 0, refused: 0, cut: 0, waits: 0 }
  for (let at = 0; at < options.cases; at += 1) {
    const seed = options.seed + at
    const made = make(seed)
    const own = readByOwn(made)
    ends[own.end] += 1
    const fault =
      differs(made, own, readByNode(made)) ?? (await differsFromUndici(made, own, options.undiciEvery, at))
    if (fault !== undefined) throw new Error(`seed ${seed}: ${fault}\n${show(made)}`)
    if (at % 10_000 === 9_999) options.progress?.(at + 1)
  }
  return ends
}

function differs({ sound }: MadeCase, own: Reading, other: Reading): string | undefined {
  if (sound && own.end !== 'whole') return `a sound answer was not taken: ${own.end}`
  if (own.end === 'whole' && other.end !== 'whole') return `taken whole, by the other ${other.end}`
  if (own.end === 'whole' && own.heads.length !== other.heads.length) return 'not as many heads'
  const head = own.heads.findIndex((each, at) => each !== other.heads[at])
  if (head !== -1)
    return `a head that the other reads otherwise: ${String(own.heads[head])} and ${String(other.heads[head])}`
  if (own.end === 'whole' && own.body !== other.body) return 'another body'
  return other.body.startsWith(own.body) ? undefined : 'bytes of a body that the other does not give'
}

/** It takes no 100, and gives the rest of an answer that it refuses in other pieces; what both take whole is the same. */
async function differsFromUndici(
  made: MadeCase,
  own: Reading,
  every: number,
  at: number,
): Promise<string | undefined> {
  if (at % every !== 0 || own.end !== 'whole') return undefined
  const other = await readByUndici(made)
  if (other.end !== 'whole') return undefined
  const fault = differs(made, own, other)
  return fault === undefined ? undefined : `undici: ${fault}`
}

function show({ method, pieces, ends }: MadeCase): string {
  const text = pieces.map((piece) => JSON.stringify(piece.toString('latin1'))).join(' | ')
  return `${method}${ends ? ', then the end' : ''}: ${text}`
}
