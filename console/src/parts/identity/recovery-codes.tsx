import { Button } from '@mantine/core'
import { Note } from '../page/problem.tsx'
import { CopyButton } from '../snippets/copy-button.tsx'
import styles from './recovery-codes.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

interface RecoveryCodesProps {
  readonly codes: readonly string[]
  /** Called when the person confirms that they saved the codes. */
  readonly onKept: () => void
}

/** Recovery codes, shown once; each is valid for one sign-in. */
export function RecoveryCodes({ codes, onKept }: RecoveryCodesProps) {
  const { t } = useTranslation()
  return (
    <div className={styles.place}>
      <Note>{t('recovery.once')}</Note>
      <ul className={styles.codes} aria-label={t('factors.recovery')}>
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <div className={styles.actions}>
        <CopyButton value={codes.join('\n')} label={t('recovery.copy')} />
        <Button onClick={onKept}>{t('recovery.kept')}</Button>
      </div>
    </div>
  )
}
