connectTheme();
connectCopying();
connectEnlarging();
connectFilter();
