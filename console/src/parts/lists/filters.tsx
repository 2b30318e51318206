import { Select, Skeleton } from '@mantine/core'
import type { ReactNode } from 'react'
import { classes } from '../marks/classes.ts'
import { Later } from '../page/later.tsx'
import styles from './filters.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

/** The filters of a list in a row, with the totals of what matches. */
export function Filters({ children, sum }: { readonly children: ReactNode; readonly sum?: ReactNode }) {
  return (
    <div className={styles.row}>
      <div className={styles.filters}>{children}</div>
      {sum !== undefined && <span className={styles.sum}>{sum}</span>}
    </div>
  )
}

interface FilterProps {
  readonly label: string
  readonly value: string | undefined
  readonly options: readonly { readonly value: string; readonly label: string }[]
  /** Whether one of the options is always chosen. */
  readonly always?: boolean
  readonly onChange: (value: string | undefined) => void
}

/** Of the library's smallest field. */
const HEIGHT_PX = 28

/** Filters by one of some values; none chosen: all. The options can be searched. */
export function Filter({ label, value, options, always = false, onChange }: FilterProps) {
  const { t } = useTranslation()
  return (
    <Later standIn={<Skeleton height={HEIGHT_PX} className={styles.filter ?? ''} />}>
      {() => (
        <Select
          size="xs"
          aria-label={label}
          placeholder={label}
          value={value ?? null}
          data={[...options]}
          searchable={!always}
          clearable={!always}
          clearButtonProps={{ 'aria-label': t('clearFilter', { name: label }) }}
          comboboxProps={{ width: 'max-content', position: 'bottom-start' }}
          nothingFoundMessage={t('frame.nothingFound')}
          className={classes(styles.filter, value !== undefined && styles.on)}
          onChange={(next) => onChange(next ?? undefined)}
        />
      )}
    </Later>
  )
}
