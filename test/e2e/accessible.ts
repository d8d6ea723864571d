import type { Page } from 'playwright-core'

/** Roles that people act on, or that say something only by their name. */
const NAMED = new Set(['button', 'link', 'textbox', 'checkbox', 'radio', 'combobox', 'image'])

/** What a screen reader, a keyboard or a narrow screen would stumble over on a page, in words. Contrast is for eyes to judge. */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  return [...(await page.evaluate(problemsOfDocument)), ...(await namelessNodes(page))]
}

/** Runs in the page. */
function problemsOfDocument(): string[] {
  const all = (selector: string) => [...document.querySelectorAll<HTMLElement>(selector)]
  const problem = (wrong: boolean, words: string) => (wrong ? [words] : [])
  const levels = all('h1, h2, h3, h4, h5, h6').map((heading) => Number(heading.tagName.slice(1)))
  const ids = all('[id]').map(({ id }) => id)
  return [
    ...problem(document.documentElement.lang === '', 'the page does not say its language'),
    ...problem(document.title.trim() === '', 'the page has no title'),
    ...problem(all('main').length !== 1, 'there is not one main part'),
    ...problem(levels.filter((level) => level === 1).length !== 1 || levels[0] !== 1, `the headings do not begin with one h1: ${levels}`),
    ...problem(
      levels.some((level, at) => level > (levels[at - 1] ?? 0) + 1),
      `a level of heading is left out: ${levels}`,
    ),
    ...problem(new Set(ids).size !== ids.length, `an id stands twice: ${ids}`),
    ...problem(all('img:not([alt])').length > 0, 'a picture has no alternative'),
    ...problem(
      all('[tabindex]').some(({ tabIndex }) => tabIndex > 0),
      'a tabindex changes the order of the keyboard',
    ),
    ...problem(all('th:not([scope])').length > 0, 'a header of a table does not say of what'),
    ...problem(document.documentElement.scrollWidth > document.documentElement.clientWidth, 'the page is wider than the screen'),
  ]
}

/** By Chromium's own accessibility tree: names as a screen reader is given them. */
async function namelessNodes(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page)
  const { nodes } = await session.send('Accessibility.getFullAXTree')
  await session.detach()
  return nodes.flatMap(({ ignored, role, name }) => {
    const isNamed = typeof name?.value === 'string' && name.value.trim() !== ''
    return ignored || isNamed || !NAMED.has(String(role?.value)) ? [] : [`a ${role?.value} has no name`]
  })
}
