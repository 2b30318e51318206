import { Button } from '@mantine/core'
import { inBackground } from '../../parts/page/in-background.ts'
import styles from './operator.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

export interface MoreRowsProps {
  readonly query: {
    readonly hasNextPage: boolean
    readonly isFetchingNextPage: boolean
    fetchNextPage(): Promise<unknown>
  }
}

/** A button that loads the next page of a list. */
export function MoreRows({ query }: MoreRowsProps) {
  const { t } = useTranslation()
  if (!query.hasNextPage) return null
  return (
    <div className={styles.more}>
      <Button
        variant="default"
        loading={query.isFetchingNextPage}
        onClick={() => inBackground(query.fetchNextPage())}
      >
        {t('operate.more')}
      </Button>
    </div>
  )
}
