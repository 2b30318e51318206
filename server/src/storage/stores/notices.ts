/** Announcements to every customer, with a beginning and an end. */

export interface Notice {
  readonly id: string
  readonly title: string
  /** Plain text; must be escaped when shown. */
  readonly body: string
  readonly level: 'info' | 'warning' | 'critical'
  /** Shown from then on; epoch ms. */
  readonly startsAt: number
  /** undefined: until it is removed. */
  readonly endsAt: number | undefined
  readonly createdAt: number
}

export interface NoticeStore {
  /** Newest first. `at`: only those shown at that time. */
  list(filter: { readonly at?: number; readonly limit: number }): Promise<readonly Notice[]>
  find(id: string): Promise<Notice | undefined>
  /** By its id: new or changed. */
  put(notice: Notice): Promise<void>
  /** False: there is none with this id. */
  remove(id: string): Promise<boolean>
}
