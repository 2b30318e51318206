/** Every code block of README, guides and operating pages says what becomes of it: see `tools/snippets/read-snippets.mjs`. */
import { FOLLOWED, isFollowable, MARKS, readSnippets } from '../snippets/read-snippets.mjs'

export function checkSnippets(tree) {
  return tree.files.filter(isFollowable).flatMap((file) =>
    readSnippets(tree.read(file))
      .filter(({ mark }) => mark === undefined && !isFollowed(tree, file))
      .map(({ line, language }) => ({
        file,
        line,
        message: `this block is neither run nor parsed; write one of ${MARKS.join(', ')} behind \`\`\`${language}`,
      })),
  )
}

/** By a test that still names the page. */
function isFollowed(tree, file) {
  const test = FOLLOWED[file]
  return test !== undefined && tree.exists(test) && tree.read(test).includes(file.split('/').at(-1))
}
