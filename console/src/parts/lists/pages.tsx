import { Button } from '@mantine/core'
import { Icon } from '../marks/icon.tsx'
import styles from './pages.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

interface PagesProps {
  /** The cursor of the next page; null: this is the last one. */
  readonly next: string | null
  readonly isFirst: boolean
  /** undefined: back to the first page. */
  readonly onTurn: (cursor: string | undefined) => void
}

/** Buttons to page through a list; renders nothing if there is only one page. */
export function Pages({ next, isFirst, onTurn }: PagesProps) {
  const { t } = useTranslation()
  if (isFirst && next === null) return null
  return (
    <div className={styles.pages}>
      {!isFirst && (
        <Button variant="default" onClick={() => onTurn(undefined)}>
          {t('firstPage')}
        </Button>
      )}
      {next !== null && (
        <Button variant="default" rightSection={<Icon name="right" size={14} />} onClick={() => onTurn(next)}>
          {t('nextPage')}
        </Button>
      )}
    </div>
  )
}
