import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Roster, type Seated } from './roster.ts'

interface Guest extends Seated {
  readonly name: number
}

describe('a roster', () => {
  test('holds what was added and not removed, whatever the order', () => {
    const acts = fc.array(fc.record({ name: fc.nat(9), come: fc.boolean() }), { maxLength: 60 })
    fc.assert(
      fc.property(acts, (list) => {
        const roster = new Roster<Guest>()
        const guests = Array.from({ length: 10 }, (_, name): Guest => ({ name }))
        const expected = new Set<number>()
        for (const { name, come } of list) {
          const guest = guests[name]
          if (guest === undefined) continue
          if (come) {
            roster.add(guest)
            expected.add(name)
          } else {
            roster.remove(guest)
            expected.delete(name)
          }
        }
        const seen: number[] = []
        roster.visit(({ name }) => seen.push(name))
        expect(seen).toHaveLength(expected.size)
        expect(new Set(seen)).toEqual(expected)
        expect(roster.size).toBe(expected.size)
      }),
    )
  })

  test('lets guests leave while it is walked through, and does not call on those that left', () => {
    const roster = new Roster<Guest>()
    const guests = Array.from({ length: 5 }, (_, name): Guest => ({ name }))
    for (const guest of guests) roster.add(guest)
    const seen: number[] = []
    roster.visit((guest) => {
      seen.push(guest.name)
      for (const other of guests) if (other.name <= guest.name + 1) roster.remove(other)
    })
    expect(seen).toEqual([0, 2, 4])
    expect(roster.size).toBe(0)
  })
})
