import { ActionIcon } from '@mantine/core'
import { ApiError } from '../../api/api-error.ts'
import { forgetRefusal } from '../../api/refusal.ts'
import { Icon } from '../../parts/marks/icon.tsx'
import { useProblemText } from '../../parts/page/use-problem.ts'
import { CopyIcon } from '../../parts/snippets/copy-button.tsx'
import styles from './refusal-notice.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

/** Why an action was refused that has no place of its own to say it; stays until it is closed or something is tried again. */
export function RefusalNotice({ error }: { readonly error: unknown }) {
  const { t } = useTranslation()
  const problemText = useProblemText()
  const requestId = error instanceof ApiError ? error.requestId : undefined
  return (
    <div className={styles.refusal} role="alert">
      <Icon name="failed" />
      <div>
        {problemText(error)}
        {requestId !== undefined && (
          <span className={styles.request}>
            {t('requestId')} <code>{requestId}</code>
            <CopyIcon value={requestId} label={t('copyId')} size="sm" />
          </span>
        )}
      </div>
      <ActionIcon size="sm" aria-label={t('close')} onClick={forgetRefusal}>
        <Icon name="close" />
      </ActionIcon>
    </div>
  )
}
