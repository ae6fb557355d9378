from everfind_gateway.async_corpus import AsyncCorpus as AsyncCorpus
from everfind_gateway.async_corpus import open_async_corpus as open_async_corpus
from everfind_gateway.corpus import Corpus as Corpus
from everfind_gateway.corpus import open_corpus as open_corpus
