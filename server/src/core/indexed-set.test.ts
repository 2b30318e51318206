import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { IndexedSet, type Indexed } from './indexed-set.ts'

interface Guest extends Indexed {
  readonly name: number
}

describe('an indexed set', () => {
  test('holds what was added and not removed, whatever the order', () => {
    const acts = fc.array(fc.record({ name: fc.nat(9), come: fc.boolean() }), { maxLength: 60 })
    fc.assert(
      fc.property(acts, (list) => {
        const set = new IndexedSet<Guest>()
        const guests = Array.from({ length: 10 }, (_, name): Guest => ({ name }))
        const expected = new Set<number>()
        for (const { name, come } of list) {
          const guest = guests[name]
          if (guest === undefined) continue
          if (come) {
            set.add(guest)
            expected.add(name)
          } else {
            set.remove(guest)
            expected.delete(name)
          }
        }
        const seen: number[] = []
        set.visit(({ name }) => seen.push(name))
        expect(seen).toHaveLength(expected.size)
        expect(new Set(seen)).toEqual(expected)
        expect(set.size).toBe(expected.size)
      }),
    )
  })

  test('lets guests leave while it is walked through, and does not call on those that left', () => {
    const set = new IndexedSet<Guest>()
    const guests = Array.from({ length: 5 }, (_, name): Guest => ({ name }))
    for (const guest of guests) set.add(guest)
    const seen: number[] = []
    set.visit((guest) => {
      seen.push(guest.name)
      for (const other of guests) if (other.name <= guest.name + 1) set.remove(other)
    })
    expect(seen).toEqual([0, 2, 4])
    expect(set.size).toBe(0)
  })
})
