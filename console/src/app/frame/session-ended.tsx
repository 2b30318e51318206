import { useQueryClient } from '@tanstack/react-query'
import { sessionBegan, useConnection } from '../../api/connection.ts'
import { Dialog } from '../../parts/forms/dialog.tsx'
import { inBackground } from '../../parts/page/in-background.ts'
import { SignInForm } from '../../sign-in/sign-in-form.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

/** Shown over the page, so that typed input is kept after signing in again. */
export function SessionEnded() {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  // The session is valid but too old for the request: this can be dismissed.
  const isStale = useConnection() === 'session-stale'
  const goOn = (): void => {
    sessionBegan()
    inBackground(queryClient.invalidateQueries())
  }
  return (
    <Dialog
      onClose={() => isStale && sessionBegan()}
      withCloseButton={isStale}
      closeOnEscape={isStale}
      closeOnClickOutside={false}
      title={t(isStale ? 'frame.sessionStale' : 'frame.sessionEnded')}
      size={440}
    >
      <SignInForm onSignedIn={goOn} returnTo={window.location.pathname + window.location.search} />
    </Dialog>
  )
}
