import { Fragment, type ReactNode } from 'react'
import styles from './facts.module.css'

/** `code`: shown in the mono face. */
export type Fact = readonly [name: string, value: ReactNode, kind?: 'code']

/** A list of names and values. */
export function Facts({ rows }: { readonly rows: readonly Fact[] }) {
  return (
    <dl className={styles.facts}>
      {rows.map(([name, value, kind]) => (
        <Fragment key={name}>
          <dt>{name}</dt>
          <dd>{kind === 'code' ? <code>{value}</code> : value}</dd>
        </Fragment>
      ))}
    </dl>
  )
}
