const slug = (text) => text.toLowerCase().replaceAll(" ", "-");

export const path = (title) => `/${slug(title)}`;
