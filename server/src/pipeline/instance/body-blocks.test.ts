import { describe, expect, test } from 'vitest'
import { seededChance } from '../../../test/passthrough/test-kit.ts'
import { BLOCK_BYTES, BodyBlocks, BodyMemory } from './body-blocks.ts'

const MEBIBYTE = 1024 * 1024
const filled = (pool: BodyBlocks, bytes: number): BodyMemory => {
  const memory = new BodyMemory(pool)
  memory.append(Buffer.alloc(bytes, 'body'))
  return memory
}

test('what was appended, in pieces of any size, is read in one go', () => {
  for (let seed = 0; seed < 40; seed++) {
    const chance = seededChance(seed)
    const memory = new BodyMemory(new BodyBlocks(MEBIBYTE))
    const appended = Array.from({ length: chance.below(12) }, () =>
      Buffer.alloc(
        chance.pick([0, 1, chance.below(3_000), BLOCK_BYTES, chance.below(200_000)]),
        `${chance.below(1e9)}`,
      ),
    )
    for (const piece of appended) memory.append(piece)
    expect(Buffer.concat(memory.pieces()).equals(Buffer.concat(appended)), `seed ${seed}`).toBe(true)
  }
})

describe('memory is used again', () => {
  test.each<[string, (memory: BodyMemory) => void, boolean]>([
    [
      'once everybody it was lent to has returned it',
      (memory) => [memory.lend(), memory.lend()].forEach((back) => back()),
      true,
    ],
    ['not if one of them has not', (memory) => [memory.lend(), memory.lend()][0]?.(), false],
    [
      'not if one of them returned it twice, and another one not',
      (memory) => {
        const back = [memory.lend(), memory.lend()][0]
        back?.()
        back?.()
      },
      false,
    ],
    ['not if it was never lent: then who read it is not known', () => undefined, false],
  ])('%s', (_when, use, isAgain) => {
    const pool = new BodyBlocks(MEBIBYTE)
    const memory = filled(pool, 2.5 * BLOCK_BYTES)
    use(memory)
    expect(pool.free).toBe(0)
    memory.giveBack()
    expect(pool.free).toBe(isAgain ? 3 : 0)
  })

  test('but not a second time for the same body, nor if it is lent after its call', () => {
    const pool = new BodyBlocks(MEBIBYTE)
    const memory = filled(pool, BLOCK_BYTES)
    memory.lend()()
    memory.giveBack()
    memory.giveBack()
    memory.lend()()
    memory.giveBack()
    expect(pool.free).toBe(1)
    expect(memory.pieces()).toEqual([])
  })

  test('each block by one body at a time', () => {
    const pool = new BodyBlocks(MEBIBYTE)
    const first = filled(pool, 2 * BLOCK_BYTES)
    const second = filled(pool, 2 * BLOCK_BYTES)
    const buffers = [...first.pieces(), ...second.pieces()].map(({ buffer }) => buffer)
    expect(new Set(buffers).size).toBe(4)
    first.lend()()
    first.giveBack()
    const third = filled(pool, 3 * BLOCK_BYTES)
    const taken = third.pieces().map(({ buffer }) => buffer)
    expect(taken.filter((buffer) => buffers.includes(buffer))).toHaveLength(2)
    expect(taken.filter((buffer) => second.pieces().some((piece) => piece.buffer === buffer))).toEqual([])
  })
})

describe('what is kept for later bodies', () => {
  const give = (pool: BodyBlocks, blocks: number): void =>
    pool.give(Array.from({ length: blocks }, () => new Uint8Array(BLOCK_BYTES)))

  test.each([
    ['64 MiB', 4_096 * MEBIBYTE, 1_024],
    ['a quarter of what all bodies may take, if that is less', 8 * MEBIBYTE, 32],
  ])('is at most %s', (_bound, bytesInFlightMax, blocksMax) => {
    const pool = new BodyBlocks(bytesInFlightMax)
    give(pool, 2_000)
    expect(pool.free).toBe(blocksMax)
  })

  test('is let go if nobody needed it between two looks; what was needed stays', () => {
    const pool = new BodyBlocks(64 * MEBIBYTE)
    give(pool, 10)
    pool.look()
    expect(pool.free).toBe(10)
    const taken = [pool.take(), pool.take(), pool.take()]
    pool.give(taken)
    pool.look()
    expect(pool.free).toBe(3)
    pool.look()
    expect(pool.free).toBe(0)
  })
})
