interface NaiveUse {
  readonly call: string
  readonly units: bigint
}

/** The simplest window that can be right, for tests: a list of uses and a list of holds. */
export class NaiveWindow {
  readonly lengthMs: number
  anchor: number | undefined
  /** For a quota: the grant of each window; what is used beyond it is the first use of the next. */
  grant: bigint | undefined
  private uses: NaiveUse[] = []
  /** What was carried over from earlier windows, and the calls that used it. */
  private carried = 0n
  private before: NaiveUse[] = []
  private readonly holds = new Map<string, bigint>()

  constructor(lengthMs: number) {
    this.lengthMs = lengthMs
  }

  used(at: number): bigint {
    const now = this.as(at)
    return now.isRunning(at) ? now.all() : 0n
  }

  /** Anchor of the running window; 0: none runs. */
  startedAt(at: number): number {
    const now = this.as(at)
    return now.isRunning(at) ? (now.anchor ?? 0) : 0
  }

  held(): bigint {
    return sum([...this.holds.values()])
  }

  endsInMs(at: number): number {
    const now = this.as(at)
    return now.anchor !== undefined && now.isRunning(at) ? now.anchor + this.lengthMs - at : this.lengthMs
  }

  /** Time until enough is free, checking one window after the other. */
  endsInMsUntil(at: number, isEnough: (used: bigint) => boolean): number {
    let endsInMs = this.endsInMs(at)
    if (this.startedAt(at) === 0) return endsInMs
    while (this.used(at + endsInMs) > 0n && !isEnough(this.used(at + endsInMs))) endsInMs += this.lengthMs
    return endsInMs
  }

  /** The part of what is used that was carried over from earlier windows. */
  carriedOver(at: number): bigint {
    const now = this.as(at)
    return now.isRunning(at) ? now.carried : 0n
  }

  private all(): bigint {
    return this.carried + sum(this.uses.map(({ units }) => units))
  }

  /** This window at a later time. */
  private as(at: number): NaiveWindow {
    const copy = Object.assign(new NaiveWindow(this.lengthMs), this)
    const { anchor, grant, lengthMs } = copy
    if (anchor === undefined || grant === undefined || Math.floor((at - anchor) / lengthMs) !== 1) return copy
    const over = copy.all() - grant
    if (over <= 0n) return copy
    copy.before = [...copy.before, ...copy.uses]
    copy.uses = []
    copy.carried = over < grant ? over : grant
    copy.anchor = anchor + lengthMs
    return copy
  }

  use(call: string, units: bigint, at: number): void {
    if (units <= 0n) return
    this.begin(at)
    this.uses.push({ call, units })
  }

  /**
   * What a call used when it ended. If that is reported late, it counts in the window that began afterwards, if there
   * is one.
   */
  charge(call: string, units: bigint, at: number): void {
    const isEarlier = this.anchor !== undefined && at < this.anchor
    this.use(call, units, isEarlier ? (this.anchor ?? at) : at)
  }

  /**
   * A call begins: a window that starts later than now by its whole length shows that the clock was set back, and is
   * over.
   */
  noteBeginning(at: number): void {
    if (this.anchor === undefined || this.anchor < at + this.lengthMs) return
    this.forget()
    this.anchor = this.holds.size === 0 ? undefined : at
  }

  hold(call: string, units: bigint, at: number): void {
    if (units <= 0n) return
    this.begin(at)
    this.holds.set(call, units)
  }

  release(call: string): void {
    this.holds.delete(call)
    this.endWhenEmpty()
  }

  giveBack(call: string, units: bigint): void {
    let rest = units
    this.uses = this.uses.flatMap((use) => {
      if (use.call !== call) return [use]
      const back = use.units < rest ? use.units : rest
      rest -= back
      return use.units === back ? [] : [{ call, units: use.units - back }]
    })
    for (const use of this.before) {
      if (use.call !== call) continue
      const back = [use.units, rest, this.carried].reduce((least, other) => (other < least ? other : least))
      this.carried -= back
      rest -= back
    }
    this.endWhenEmpty()
  }

  private isRunning(at: number): boolean {
    return this.anchor !== undefined && Math.abs(at - this.anchor) < this.lengthMs
  }

  private begin(at: number): void {
    Object.assign(this, this.as(at))
    if (this.isRunning(at)) return
    this.anchor = at
    this.forget()
  }

  private endWhenEmpty(): void {
    if (this.all() > 0n || this.holds.size > 0) return
    this.anchor = undefined
    this.forget()
  }

  private forget(): void {
    this.uses = []
    this.before = []
    this.carried = 0n
    this.grant = undefined
  }
}

const sum = (units: readonly bigint[]): bigint => units.reduce((total, unit) => total + unit, 0n)
