create table people(name text, age int);
insert into people values('a', 1),('b', 3),('c', 2);
